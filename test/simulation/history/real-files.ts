// `node:fs/promises` as far as our programs use it for files that a database has for real: at once, in no step of their own.

import { closeSync, openSync, readFileSync, readSync, statSync, type Stats } from 'node:fs'

export const realFiles = {
  open: async (path: string, flags: string) => {
    const descriptor = openSync(path, flags)
    return {
      read: async (buffer: Buffer, offset: number, length: number, position: number) => ({
        bytesRead: readSync(descriptor, buffer, offset, length, position),
        buffer,
      }),
      close: async () => closeSync(descriptor),
    }
  },
  readFile: async (path: string, encoding: BufferEncoding): Promise<string> =>
    readFileSync(path, encoding),
  stat: async (path: string): Promise<Stats> => statSync(path),
}
