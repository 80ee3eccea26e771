// `--open`: the link goes to the browser in a file that only its user may read. As an argument of a program everybody on the machine could
// see the code, and be faster.

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface OpenedLink {
  /** Undefined, or why no browser was started. */
  readonly fault: string | undefined
  forget(): Promise<void>
}

export async function openInBrowser(link: string): Promise<OpenedLink> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-console-'))
  const file = join(directory, 'sign-in.html')
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${link}">\n`
  await writeFile(file, page, { mode: 0o600 })
  const fault = await start('xdg-open', file)
  return { fault, forget: () => rm(directory, { recursive: true, force: true }) }
}

function start(program: string, file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, [file], { stdio: 'ignore', detached: true })
    child.once('error', (error) => resolve(`${program}: ${error.message}`))
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
  })
}
