// Taking over: the target first, the old renewer only when the new certificate is served. A second start ends the same.

import { dirname } from 'node:path'
import { describeError } from '../../platform/errors.ts'
import type { AdoptHost } from './adopt-host.ts'
import { type Adoption, stagedPath, stagedTargetPath } from './adoption.ts'
import type { AdoptionStore } from './adoption-store.ts'
import { stopRenewer } from './stop-renewer.ts'
import { undoAdoption } from './undo-adoption.ts'

export type TakeOverResult =
  | { readonly ok: true; readonly serial: string | undefined }
  /** Everything is as it was. */
  | { readonly ok: false; readonly reason: string; readonly problems: readonly string[] }

/** From whatever phase its record says. Throws when it cannot go on now; the next start does. */
export async function takeOver(
  host: AdoptHost,
  store: AdoptionStore,
  adoption: Adoption,
): Promise<TakeOverResult> {
  let current = adoption
  let serial: string | undefined
  if (current.phase === 'undoing') {
    const problems = await undoAdoption(host, store, current)
    return { ok: false, reason: 'it was being undone, and that is finished', problems }
  }
  if (current.phase === 'taking') {
    const taken = await takeOrSay(host, current)
    if (taken.reason !== undefined) {
      const problems = await undoAdoption(host, store, current)
      return { ok: false, reason: taken.reason, problems }
    }
    serial = taken.serial
    current = await store.moveTo(current, 'stopping')
  }
  if (current.phase === 'stopping') {
    for (const stop of current.stops) await stopRenewer(host, current, stop)
    await store.moveTo(current, 'adopted')
  }
  return { ok: true, serial }
}

interface Taken {
  /** Why it is not; undefined when it is. */
  readonly reason?: string
  readonly serial?: string | undefined
}

/** A step that cannot be done is a reason to put everything back. */
async function takeOrSay(host: AdoptHost, adoption: Adoption): Promise<Taken> {
  try {
    return await take(host, adoption)
  } catch (error) {
    return { reason: describeError(error) }
  }
}

async function take(host: AdoptHost, adoption: Adoption): Promise<Taken> {
  await replaceLinks(host, adoption)
  await writeTarget(host, adoption)
  const { serial, reason } = await host.applyTarget(adoption.nome, adoption.target_path)
  if (serial === undefined) return { reason }
  for (const probe of adoption.probes) {
    const fault = await host.probe(probe, serial)
    if (fault !== undefined) return { reason: fault }
  }
  return { serial }
}

/** A target writes plain files. What a link leads to is copied into its place; that itself belongs to others, and stays. */
async function replaceLinks(host: AdoptHost, adoption: Adoption): Promise<void> {
  for (const [index, { path }] of adoption.places.entries()) {
    if ((await host.look(path)) !== 'link') continue
    const staged = stagedPath(adoption, index)
    await host.copyContent(path, staged)
    await host.rename(staged, path)
    await host.syncDirectory(dirname(path))
  }
}

/** Never over one that somebody else has put there. */
async function writeTarget(
  host: AdoptHost,
  { target_path: path, target_text: text }: Adoption,
): Promise<void> {
  const staged = stagedTargetPath(path)
  await host.removeTree(staged)
  if ((await host.read(path)) === text) return
  await host.create(staged, text, 0o644)
  await host.renameToFree(staged, path)
  await host.syncDirectory(dirname(path))
}
