// What a start and an operator have in common when the roots change.

import type { Certificate } from '../../../pki/certificates.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import {
  compareRoots,
  type EndangeredAgent,
  findEndangered,
  isValid,
} from '../../domain/decide-root-set.ts'
import type { RootSet, SetNumber } from '../../domain/root-set.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { agentSlices } from '../agent-slices.ts'
import { recordHubAct } from '../hub-acts.ts'

/** Each once, in the order of the file. */
export function distinctRoots(roots: readonly Certificate[]): Certificate[] {
  return [...new Map(roots.map((root) => [root.sha256, root])).values()]
}

export function toPem(roots: readonly Certificate[]): string {
  return roots.map(({ pem }) => pem).join('')
}

/** Who needs a root that would go; nobody does when only expired ones go. */
export async function findEndangeredBy(
  reader: StoreReader,
  current: readonly Certificate[],
  next: readonly Certificate[],
  now: Date,
): Promise<EndangeredAgent[]> {
  const { removed } = compareRoots(current, next)
  if (!removed.some((root) => isValid(root, now))) return []
  const endangered: EndangeredAgent[] = []
  for await (const agents of agentSlices(reader)) {
    const ids = agents.map(({ id }) => id)
    const trusts = await reader.listAgentTrust(ids)
    const certificates = await reader.listStandingCertificates(ids, now)
    endangered.push(...findEndangered({ roots: next, agents, trusts, certificates }))
  }
  return endangered
}

export interface RootSetChange {
  readonly actor: Actor | 'hub'
  readonly current: readonly Certificate[]
  readonly next: readonly Certificate[]
  readonly number: SetNumber
  readonly endangered: number
}

export async function commitRootSet(
  writer: StoreWriter,
  now: Date,
  { actor, current, next, number, endangered }: RootSetChange,
): Promise<RootSet> {
  const { added, removed } = compareRoots(current, next)
  const set: RootSet = { ...number, pem: toPem(next), createdAt: now }
  await writer.insertRootSet(set)
  await recordHubAct(writer, now, HubEventType.bundleChanged, {
    actor,
    numero: number.number,
    epoca: number.epoch,
    fingerprints: fingerprintsOf(next),
    added: fingerprintsOf(added),
    removed: fingerprintsOf(removed),
    agentes_endangered: endangered,
  })
  return set
}

function fingerprintsOf(roots: readonly Certificate[]): string[] {
  return roots.map(({ sha256 }) => sha256)
}
