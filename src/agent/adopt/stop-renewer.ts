// Stopping what renewed a file until now, and starting it again: each may be done twice.

import { dirname, join } from 'node:path'
import { describeError, UserError } from '../../platform/errors.ts'
import type { AdoptHost } from './adopt-host.ts'
import type { Adoption } from './adoption.ts'
import { STOPPED_LINE as COMMENT, type StopAction } from './renewers/renewer.ts'

/** What stands for bytes that are no UTF-8: written again they would be others. */
const UNREADABLE = '\uFFFD'

export async function stopRenewer(
  host: AdoptHost,
  adoption: Adoption,
  stop: StopAction,
): Promise<void> {
  if (stop.kind === 'unit') return host.stopUnit(stop.unit)
  if (stop.kind === 'line') {
    const text = (await host.read(stop.path)) ?? ''
    if (text.includes(UNREADABLE)) {
      throw new UserError('renewer_unreadable', `${stop.path} is no text in UTF-8`)
    }
    return rewrite(host, adoption, stop.path, replaceLine(text, stop.line, COMMENT + stop.line))
  }
  const [from, to] = [await host.look(stop.from), await host.look(stop.to)]
  if (from === undefined) return
  if (to !== undefined) {
    throw new UserError('renewer_twice', `${stop.from} and ${stop.to} are both there`, {
      hint: 'remove the one that is not wanted, and run the command again',
    })
  }
  await move(host, stop.from, stop.to)
}

/** Why it is not as it was; `copy` is of the file that was changed. */
export async function restartRenewer(
  host: AdoptHost,
  adoption: Adoption,
  stop: StopAction,
  copy: string,
): Promise<string | undefined> {
  if (stop.kind === 'unit') {
    try {
      await host.startUnit(stop.unit, { enable: stop.is_enabled, start: stop.is_active })
      return undefined
    } catch (error) {
      return `${stop.unit} is not started again: ${describeError(error)}`
    }
  }
  if (stop.kind === 'line') return restoreLine(host, adoption, stop, copy)
  if ((await host.look(stop.to)) === undefined) {
    const isThere = (await host.look(stop.from)) !== undefined
    return isThere ? undefined : `${stop.to} is gone: nothing renews these files now`
  }
  if ((await host.look(stop.from)) !== undefined) {
    return `${stop.from} was made again meanwhile: ${stop.to} is what was there before`
  }
  await move(host, stop.to, stop.from)
  return undefined
}

/** As it was, with its times, unless others changed it meanwhile: then only the line comes back. */
async function restoreLine(
  host: AdoptHost,
  adoption: Adoption,
  { path, line }: Extract<StopAction, { kind: 'line' }>,
  copy: string,
): Promise<string | undefined> {
  await host.removeTree(stagedBeside(adoption, path))
  const before = (await host.read(copy)) ?? ''
  const now = await host.read(path)
  if (now?.includes(UNREADABLE) === true) {
    return `${path} is no text in UTF-8: this line of it stays a comment: ${line.trim()}`
  }
  // Another adoption had stopped it when this one began: what it was before is not in this copy.
  const wasStopped = before.split('\n').includes(COMMENT + line)
  if (now === before && !wasStopped) return undefined
  if (!wasStopped && now === replaceLine(before, line, COMMENT + line)) {
    const staged = stagedBeside(adoption, path)
    await host.copyAsIs(copy, staged)
    await move(host, staged, path)
    return undefined
  }
  const lines = now?.split('\n') ?? []
  if (wasStopped && lines.includes(line)) return undefined
  if (now === undefined || !lines.includes(COMMENT + line)) {
    return `${path} was changed meanwhile, and lacks this line: ${line.trim()}`
  }
  await rewrite(host, adoption, path, replaceLine(now, COMMENT + line, line))
  return undefined
}

async function rewrite(
  host: AdoptHost,
  adoption: Adoption,
  path: string,
  text: string,
): Promise<void> {
  if ((await host.read(path)) === text) return
  const staged = stagedBeside(adoption, path)
  await host.copyAsIs(path, staged)
  await host.overwrite(staged, text)
  await move(host, staged, path)
}

async function move(host: AdoptHost, from: string, to: string): Promise<void> {
  await host.rename(from, to)
  await host.syncDirectory(dirname(to))
}

function replaceLine(text: string, line: string, replacement: string): string {
  return text
    .split('\n')
    .map((one) => (one === line ? replacement : one))
    .join('\n')
}

/** cron leaves out names with a dot. */
function stagedBeside({ id }: Adoption, path: string): string {
  return join(dirname(path), `.svc-adopt-${id}.new`)
}
