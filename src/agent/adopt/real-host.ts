// The host as it is: files by the system's own `cp`, which alone keeps times to the nanosecond, attributes and access lists.

import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { removeIfPresent, syncDirectory, syncFile, writeNewFile } from '../../platform/files.ts'
import { findPathHands } from '../../platform/path-hands.ts'
import { readSmallBytes } from '../../platform/small-file.ts'
import { lookAt } from '../files/trusted-path.ts'
import { ownHome } from '../delivery/run-hook.ts'
import { awaitServedSerial } from '../targets/probe.ts'
import { runReload } from '../targets/reload.ts'
import type { AdoptHost } from './adopt-host.ts'
import { readPlainFile } from './plain-file.ts'
import { PRESENT_BYTES_MAX } from './present-file.ts'

/** Root's passes over targets, as `targets apply` makes them. */
export type TargetPasses = Pick<
  AdoptHost,
  'applyTarget' | 'listApplied' | 'settleTarget' | 'withoutPasses'
>

const runFile = promisify(execFile)
const PROGRAMS = { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' } } as const
const PROGRAM_TIMEOUT_MS = 90_000
const TEXT_BYTES_MAX = 4 * 1024 * 1024

export function createRealHost(passes: TargetPasses): AdoptHost {
  return {
    ...passes,
    async copyAsIs(from, to) {
      await copy(from, to)
    },
    copyContent,
    async overwrite(path, text) {
      const file = await open(path, 'r+')
      try {
        await file.truncate()
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    create: writeNewFile,
    rename,
    async renameToFree(from, to) {
      await link(from, to)
      await removeIfPresent(from)
    },
    remove: removeIfPresent,
    removeTree: (path) => rm(path, { recursive: true, force: true }),
    async makeDirectory(path) {
      await mkdir(path, { recursive: true, mode: 0o700 })
    },
    syncDirectory,
    async look(path) {
      const seen = await lookAt(path)
      if (seen === undefined) return undefined
      if (typeof seen === 'string') throw new UserError('unreadable', seen)
      return seen.isSymbolicLink() ? 'link' : 'other'
    },
    async read(path) {
      try {
        const text = await readFile(path, 'utf8')
        if (text.length <= TEXT_BYTES_MAX) return text
        throw new UserError('file_too_large', `${path} is too large`)
      } catch (error) {
        if (errnoCode(error) === 'ENOENT') return undefined
        throw error
      }
    },
    async hash(path) {
      try {
        return hash('sha256', readSmallBytes(path, TEXT_BYTES_MAX).bytes, 'hex')
      } catch (error) {
        if (error instanceof UserError || errnoCode(error) === 'ENOENT') return undefined
        throw error
      }
    },
    async list(directory) {
      try {
        return await readdir(directory)
      } catch (error) {
        if (errnoCode(error) === 'ENOENT') return []
        throw error
      }
    },
    async reload(argv) {
      const { failure, outputEnd } = await runReload(argv, {
        applier: { uid: 0, home: ownHome() },
      })
      return failure === undefined ? undefined : `${failure}\n${outputEnd}`.trim()
    },
    async probe({ host, port, protocol, server_name: name }, serial) {
      const serverName = name ?? undefined
      const verdict = await awaitServedSerial({ host, port, protocol, serverName }, serial)
      return verdict.ok ? undefined : verdict.reason
    },
    async stopUnit(unit) {
      await systemctl('disable', '--now', unit)
    },
    async startUnit(unit, { enable, start }) {
      if (enable) await systemctl('enable', unit)
      if (start) await systemctl('start', unit)
    },
  }
}

/** What systemd says of a unit; where it does not run, nothing is enabled or active. */
export async function askUnit(question: 'is-enabled' | 'is-active', unit: string) {
  try {
    const { stdout } = await runFile('systemctl', [question, '--', unit], {
      ...PROGRAMS,
      timeout: PROGRAM_TIMEOUT_MS,
    })
    return /^(enabled|active)/.test(stdout)
  } catch {
    return false
  }
}

/** One descriptor is looked at, read, and read to its end. */
async function copyContent(from: string, to: string): Promise<void> {
  const strangers = [...findPathHands(from).hands].filter((hand) => hand !== process.geteuid?.())
  if (strangers.length > 0) {
    throw new UserError('link_untrusted', `${from} leads to what others than root can change`)
  }
  const { bytes, stats } = readPlainFile(await realpath(from), PRESENT_BYTES_MAX)
  await rm(to, { recursive: true, force: true })
  const file = await open(to, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.chown(stats.uid, stats.gid)
    await file.chmod(stats.mode & 0o7777)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function copy(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  const how = ['--archive', '--no-target-directory', '--']
  await runFile('cp', [...how, from, to], { ...PROGRAMS, timeout: PROGRAM_TIMEOUT_MS })
  const seen = await lookAt(to)
  if (typeof seen === 'object' && seen.isFile()) await syncFile(to)
}

async function systemctl(...args: string[]): Promise<void> {
  await runFile('systemctl', ['--no-ask-password', ...args], {
    ...PROGRAMS,
    timeout: PROGRAM_TIMEOUT_MS,
  })
}
