// The way back: files, links, owners, modes and times as they were, then the old renewer. A second start ends the same.

import { basename, dirname, join } from 'node:path'
import type { AdoptHost } from './adopt-host.ts'
import { type Adoption, stagedPath, stagedTargetPath } from './adoption.ts'
import type { AdoptionStore } from './adoption-store.ts'
import { stopKeyOf } from './renewers/renewer.ts'
import { restartRenewer } from './stop-renewer.ts'

/** What a person has to look at although everything is put back. Throws when it cannot go on now; the next start does. */
export async function undoAdoption(
  host: AdoptHost,
  store: AdoptionStore,
  adoption: Adoption,
): Promise<string[]> {
  const { nome, target_path: targetPath } = adoption
  let current = adoption
  // Without its target no later pass writes the files again; what an earlier one left half done is put back first.
  await host.withoutPasses(async () => {
    await host.removeTree(stagedTargetPath(targetPath))
    const hasTarget = (await host.look(targetPath)) !== undefined
    if (current.phase !== 'undoing' || hasTarget) {
      current = await store.moveTo(adoption, 'undoing', await host.listApplied(targetPath))
    }
    if (hasTarget) await removeTarget(host, current)
  })
  await host.settleTarget(nome, targetPath)
  const problems: string[] = []
  await host.withoutPasses(async () => {
    problems.push(...(await putBack(host, store, current)))
  })
  problems.push(...(await listKept(host, current)))
  const fault = await host.reload(current.reload)
  if (fault !== undefined) problems.push(`reload: ${fault}`)
  for (const probe of fault === undefined ? current.probes : []) {
    const reason = await host.probe(probe, current.former_serial)
    if (reason !== undefined) problems.push(reason)
  }
  problems.push(...(await restartRenewers(host, store, current)))
  await store.end(current)
  return problems
}

/** One that somebody has edited is kept under a name that is none of a target. */
async function removeTarget(
  host: AdoptHost,
  { target_path: path, target_text: text }: Adoption,
): Promise<void> {
  if ((await host.read(path)) === text) await host.remove(path)
  else await keep(host, path, keptTargetPath(path))
  await host.syncDirectory(dirname(path))
}

/** What others have put there since, as a renewal by hand, is kept: it may be the only copy of its key. */
async function putBack(
  host: AdoptHost,
  store: AdoptionStore,
  adoption: Adoption,
): Promise<string[]> {
  const problems: string[] = []
  for (const [index, { path }] of adoption.places.entries()) {
    const old = store.copyOf(adoption, `old-${index}`)
    const now = await host.look(path)
    if ((await host.look(dirname(path))) === undefined) {
      await host.makeDirectory(dirname(path))
      problems.push(`${dirname(path)} was gone: it is made again, for root alone`)
    }
    // It was never replaced, or is back already.
    if (now === 'link' && (await host.look(old)) === 'link') continue
    const isKnown = now !== 'link' && (await knowsContent(host, adoption, old, path))
    if (now !== undefined && !isKnown) await keep(host, path, keptPath(path))
    const staged = stagedPath(adoption, index)
    await host.copyAsIs(old, staged)
    await host.rename(staged, path)
    await host.syncDirectory(dirname(path))
  }
  return problems
}

async function knowsContent(
  host: AdoptHost,
  { places, applied }: Adoption,
  old: string,
  path: string,
): Promise<boolean> {
  const now = await host.hash(path)
  const known = [...places, ...applied].filter((one) => one.path === path && one.sha256 === now)
  return known.length > 0 || (now !== undefined && now === (await host.hash(old)))
}

async function keep(host: AdoptHost, path: string, stem: string): Promise<void> {
  await host.rename(path, `${stem}${suffix((await keptAs(host, stem)).length)}`)
}

/** Told for as long as it is there: an undo that was interrupted after it kept something says so too. */
async function listKept(host: AdoptHost, { places, target_path: target }: Adoption) {
  const problems: string[] = []
  const stems = places.map(({ path }) => [path, keptPath(path)] as const)
  for (const [path, stem] of [...stems, [target, keptTargetPath(target)] as const]) {
    for (const kept of await keptAs(host, stem)) {
      problems.push(`${path} was changed by others meanwhile: that is kept as ${kept}`)
    }
  }
  return problems
}

async function keptAs(host: AdoptHost, stem: string): Promise<string[]> {
  const found: string[] = []
  for (;;) {
    const path = `${stem}${suffix(found.length)}`
    if ((await host.look(path)) === undefined) return found
    found.push(path)
  }
}

function suffix(count: number): string {
  return count === 0 ? '' : `-${count + 1}`
}

/** Beside it, where services that read all of a directory leave it out. */
function keptPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.svc-undone`)
}

function keptTargetPath(path: string): string {
  return `${path}.svc-undone`
}

/** One that others of its files are still adopted from stays stopped; the last of them starts it again. */
async function restartRenewers(
  host: AdoptHost,
  store: AdoptionStore,
  adoption: Adoption,
): Promise<string[]> {
  const others = (await store.list()).filter(({ id }) => id !== adoption.id)
  const kept = new Set(others.flatMap(({ stops }) => stops.map(stopKeyOf)))
  const problems: string[] = []
  for (const [index, stop] of adoption.stops.entries()) {
    if (kept.has(stopKeyOf(stop))) continue
    const copy = store.copyOf(adoption, `stop-${index}`)
    const problem = await restartRenewer(host, adoption, stop, copy)
    if (problem !== undefined) problems.push(problem)
  }
  return problems
}
