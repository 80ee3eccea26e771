// A link goes to the browser in a file that only its user may read. As an argument of a program everybody on the machine could see what
// is in it, and be faster.

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { escapeHtml } from '../../platform/escape-html.ts'

export interface OpenedLink {
  /** Undefined, or why no browser was started. */
  readonly fault: string | undefined
  /** For nobody else once the browser has it. */
  readonly directory: string
  forget(): Promise<void>
}

type Environment = Readonly<Record<string, string | undefined>>

export async function openInBrowser(link: string, env: Environment): Promise<OpenedLink> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-browser-'))
  const file = join(directory, 'sign-in.html')
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${escapeHtml(link)}">\n`
  await writeFile(file, page, { mode: 0o600 })
  const fault = await start('xdg-open', file, withoutOurs(env))
  return { fault, directory, forget: () => rm(directory, { recursive: true, force: true }) }
}

/** Whether there is a browser on this machine that its user sees. */
export function hasBrowser(env: Environment): boolean {
  const isElsewhere = env['SSH_CONNECTION'] !== undefined || env['SSH_TTY'] !== undefined
  return !isElsewhere && Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
}

/** The passphrase of the vault may be among them. */
function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')))
}

function start(program: string, file: string, env: Environment): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, [file], { stdio: 'ignore', detached: true, env })
    child.once('error', (error) => resolve(`${program}: ${error.message}`))
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
  })
}
