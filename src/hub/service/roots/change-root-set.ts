// What a start and an operator have in common when the roots change.

import type { Certificate } from '../../../pki/certificates.ts'
import { HubEventType } from '../../../protocol/words.ts'
import {
  compareRoots,
  type EndangeredAgent,
  findEndangered,
  isValid,
} from '../../domain/decide-root-set.ts'
import type { RootSet, SetNumber, SetTrust } from '../../domain/root-set.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { RootsRollout } from '../../domain/rollout.ts'
import type { AdminAct } from '../admin-act.ts'
import { followInWaves, type RootsWaves } from './roots-in-waves.ts'
import { agentSlices } from '../agent-slices.ts'

/** Each once, in the order of the file. */
export function distinctRoots(roots: readonly Certificate[]): Certificate[] {
  return [...new Map(roots.map((root) => [root.sha256, root])).values()]
}

export function toPem(roots: readonly Certificate[]): string {
  return roots.map(({ pem }) => pem).join('')
}

/** The agents that need a root that the change removes; no agent needs an expired one. */
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
  readonly current: readonly Certificate[]
  readonly next: readonly Certificate[]
  readonly number: SetNumber
  readonly endangered: number
  readonly trust?: SetTrust | undefined
  /** Undefined offers the set to all agents at once. */
  readonly waves?: RootsWaves | undefined
}

export async function insertRootSet(
  writer: StoreWriter,
  now: Date,
  { current, next, number, endangered, trust, waves }: RootSetChange,
): Promise<{
  readonly set: RootSet
  readonly acts: readonly AdminAct[]
  readonly rollout: RootsRollout | undefined
}> {
  const { added, removed } = compareRoots(current, next)
  const set: RootSet = { ...number, pem: toPem(next), createdAt: now, ...(trust && { trust }) }
  await writer.insertRootSet(set)
  const payload = {
    numero: number.number,
    epoca: number.epoch,
    fingerprints: fingerprintsOf(next),
    added: fingerprintsOf(added),
    removed: fingerprintsOf(removed),
    agentes_endangered: endangered,
    ...(trust && { trust_key: trust.key }),
  }
  const act = { type: HubEventType.bundleChanged, payload }
  const { rollout, acts } = await followInWaves(writer, now, number, waves)
  return { set, acts: [act, ...acts], rollout }
}

function fingerprintsOf(roots: readonly Certificate[]): string[] {
  return roots.map(({ sha256 }) => sha256)
}
