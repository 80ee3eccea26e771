// The one command of a target: it tells a server that its files have changed.

import { readlink } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { type HookResult, runHook } from '../delivery/run-hook.ts'
import { lookAt, ownershipRefusal } from '../files/trusted-path.ts'

export interface ReloadOptions {
  readonly applier: { readonly uid: number; readonly home: string }
  /** Of the applier's own lock, if it holds one: no other applier starts before the command has ended. */
  readonly lockDescriptor?: number
  readonly timeoutMs?: number
  /** Where a program without a path is looked for. */
  readonly searchPath?: string
}

const TIMEOUT_MS = 60_000
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const LINKS_MAX = 40

/** Runs `argv` without a shell; `failure` is undefined when it exited with 0 in time. */
export async function runReload(
  argv: readonly string[],
  { applier, lockDescriptor, timeoutMs = TIMEOUT_MS, searchPath = SEARCH_PATH }: ReloadOptions,
): Promise<HookResult> {
  const [program = '', ...rest] = argv
  const found = await findProgram(program, searchPath, applier.uid)
  if (!found.ok) return refused(found.reason)
  return runHook({
    path: found.path,
    arguments: rest,
    // Nothing of our own environment, which may hold a token.
    environment: { PATH: SEARCH_PATH, HOME: applier.home, LANG: 'C.UTF-8' },
    workingDirectory: '/',
    lockDescriptor,
    timeoutMs,
  })
}

type FoundProgram =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string }

async function findProgram(
  program: string,
  searchPath: string,
  uid: number,
): Promise<FoundProgram> {
  if (program.includes('/') && !isAbsolute(program)) {
    return { ok: false, reason: `${program} is neither an absolute path nor a plain name` }
  }
  const candidates = isAbsolute(program)
    ? [program]
    : searchPath.split(':').map((directory) => join(directory, program))
  let firstReason: string | undefined
  for (const path of candidates) {
    const verdict = await judgeProgram(path, uid)
    if (verdict === 'trusted') return { ok: true, path }
    if (verdict !== 'missing') firstReason ??= verdict.reason
  }
  return { ok: false, reason: firstReason ?? `${program} was not found` }
}

type ProgramVerdict = 'trusted' | 'missing' | { readonly reason: string }

/** Walks to the program as the kernel would: a user who could change any step of the way could choose what is run. */
async function judgeProgram(path: string, uid: number): Promise<ProgramVerdict> {
  const steps = path.split('/')
  let current = '/'
  let isProgram = false
  let links = 0
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = join(current, step)
    const stats = await lookAt(next)
    if (stats === undefined) return 'missing'
    if (typeof stats === 'string') return { reason: stats }
    const isLink = stats.isSymbolicLink()
    // A link has no mode of its own; only the owner of its directory can change it.
    const reason = ownershipRefusal({ uid: stats.uid, mode: isLink ? 0 : stats.mode }, uid, next)
    if (reason !== undefined) return { reason }
    if (!isLink) {
      current = next
      isProgram = stats.isFile() && (stats.mode & 0o111) !== 0
      continue
    }
    links += 1
    if (links > LINKS_MAX) return { reason: `${path} leads through too many symbolic links` }
    const target = await readlink(next)
    if (isAbsolute(target)) current = '/'
    steps.unshift(...target.split('/'))
  }
  return isProgram ? 'trusted' : { reason: `${path} is not an executable file` }
}

function refused(reason: string): HookResult {
  return {
    failure: `cannot be run: ${reason}`,
    exitCode: null,
    durationMs: 0,
    output: '',
    outputEnd: '',
  }
}
