// SPDX-License-Identifier: MIT
#ifndef SAMPL_BASE_VERSION_H
#define SAMPL_BASE_VERSION_H

#define SAMPL_VERSION "0.4.0" // of the program and of the library

#endif
