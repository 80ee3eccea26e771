import { execFile } from 'node:child_process'
import { findTool } from './tools.ts'

/** Runs any tool to its end, bytes in and bytes out; its standard output when it succeeded, else an error. */
export function runBytes(
  name: string,
  args: readonly string[],
  input: Uint8Array = new Uint8Array(),
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024, timeout: 60_000 } as const
    const child = execFile(findTool(name) ?? name, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${name} failed: ${stderr.toString()}`, { cause: error }))
    })
    // A program may end without reading its input; how it ended says whether that matters.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
