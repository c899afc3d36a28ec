// SPDX-License-Identifier: MIT

/** Bytes, or a text in UTF-8. */
export type Data = string | Uint8Array;

export interface Options {
  /** Standard input, which "-" and "/dev/stdin" name. By default it is empty. */
  stdin?: Data;
  /** Files in memory by the names that `args` uses. They hide files of the disk with these names. */
  files?: Record<string, Data>;
}

export interface Result {
  /** The exit status: 0 if the run succeeded. sampl(1) lists the others. */
  status: number;
  stdout: Buffer;
  /** Messages and notes. */
  stderr: Buffer;
}

/**
 * Runs sampl once, in a worker. `args` has the words of the command line. Other files are files of the disk; `-o FILE`
 * writes there. The promise is rejected only if the program breaks off, for example when memory is short.
 */
export function sampl(args: readonly string[], options?: Options): Promise<Result>;
