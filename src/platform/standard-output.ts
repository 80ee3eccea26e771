// What a program prints. A write that fails without a listener ends the process with a stack, so each is waited for.

import type { Writable } from 'node:stream'
import { errnoCode, SvcError } from './errors.ts'

/** Fails when the text is lost; a reader that has gone (`| head`) wanted no more of it. */
export async function writeOut(text: string, stream: Writable = process.stdout): Promise<void> {
  const error = await put(stream, text)
  if (error !== undefined && errnoCode(error) !== 'EPIPE') throw outputLost(error)
}

/** The failure, if there was one. */
export function put(stream: Writable, content: string | Uint8Array): Promise<Error | undefined> {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
  return new Promise((resolve) => {
    stream.write(content, (error) => resolve(error ?? undefined))
  })
}

export function outputLost(error: Error): SvcError {
  return new SvcError('output_failed', `cannot write the output: ${error.message}`, {
    cause: error,
  })
}

/** The callback of the write has said it. */
function ignore(): void {}
