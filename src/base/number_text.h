// SPDX-License-Identifier: MIT
// f32 to decimal, the inner loop of text output.
#ifndef SAMPL_BASE_NUMBER_TEXT_H
#define SAMPL_BASE_NUMBER_TEXT_H

#define NUMBER_TEXT 24

// x with the fewest digits that read back to the same float, the nearest of those, written as printf's %g does; "inf", "-inf", "nan".
// Returns text.
const char *number_text(float x, char text[NUMBER_TEXT]);

#endif
