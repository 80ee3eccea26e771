// The way back: files, links, owners, modes and times as they were, then the old renewer. A second start ends the same.

import { dirname } from 'node:path'
import type { AdoptHost } from './adopt-host.ts'
import { type Adoption, stagedPath, stagedTargetPath } from './adoption.ts'
import type { AdoptionStore } from './adoption-store.ts'
import { restartRenewer } from './stop-renewer.ts'

/** What a person has to look at although everything is put back. Throws when it cannot go on now; the next start does. */
export async function undoAdoption(
  host: AdoptHost,
  store: AdoptionStore,
  adoption: Adoption,
): Promise<string[]> {
  const current = adoption.phase === 'undoing' ? adoption : await store.moveTo(adoption, 'undoing')
  // Without its target no later pass writes the files again; what an earlier one left half done is put back first.
  await host.removeTree(stagedTargetPath(current.target_path))
  await host.remove(current.target_path)
  await host.syncDirectory(dirname(current.target_path))
  await host.settleTarget(current.nome, current.target_path)
  await host.withoutPasses(() => putBack(host, store, current))
  const problems: string[] = []
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

async function putBack(host: AdoptHost, store: AdoptionStore, adoption: Adoption): Promise<void> {
  for (const [index, { path }] of adoption.places.entries()) {
    const staged = stagedPath(adoption, index)
    await host.copyAsIs(store.copyOf(adoption, `old-${index}`), staged)
    await host.rename(staged, path)
    await host.syncDirectory(dirname(path))
  }
}

/** One that others of its files are still adopted from stays stopped; the last of them starts it again. */
async function restartRenewers(
  host: AdoptHost,
  store: AdoptionStore,
  adoption: Adoption,
): Promise<string[]> {
  const others = (await store.list()).filter(({ id }) => id !== adoption.id)
  const kept = new Set(others.flatMap(({ stops }) => stops.map((stop) => JSON.stringify(stop))))
  const problems: string[] = []
  for (const [index, stop] of adoption.stops.entries()) {
    if (kept.has(JSON.stringify(stop))) continue
    const copy = store.copyOf(adoption, `stop-${index}`)
    const problem = await restartRenewer(host, adoption, stop, copy)
    if (problem !== undefined) problems.push(problem)
  }
  return problems
}
