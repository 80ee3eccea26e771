// A set of roots that agents are offered in waves: it is in force at the hub, and a rollout says to whom it is offered. docs/protocol.md RLO-29.

import { type Certificate, parseCertificatesPem } from '../../../pki/certificates.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import {
  newRollout,
  type Rollout,
  type RootsRollout,
  type RootsSubject,
} from '../../domain/rollout.ts'
import { isRootsRollout } from '../../domain/rollout.ts'
import type { SetNumber } from '../../domain/root-set.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { AdminAct } from '../admin-act.ts'
import { toEntryPayload } from '../rollout/name-rollout.ts'
import { newRolloutId, type RolloutRules, toRulesPayload } from '../rollout/rollout-rules.ts'

export interface RootsWaves {
  readonly rules: RolloutRules
  readonly startedBy: Actor
  /** How many agents there are. */
  readonly hosts: number
  /** The set before. */
  readonly before: SetNumber
}

interface Followed {
  readonly rollout: RootsRollout | undefined
  readonly acts: readonly AdminAct[]
}

/** For a set that comes into force: what was on its way in waves ends, and the set takes its place, in waves or at once. */
export async function followInWaves(
  writer: StoreWriter,
  now: Date,
  { epoch, number }: SetNumber,
  waves: RootsWaves | undefined,
): Promise<Followed> {
  const open = await findOpenRoots(writer)
  const acts: AdminAct[] = []
  if (open !== undefined) {
    await writer.rollouts.update({ ...open, state: 'undone', endedAt: now })
    const more = { wave: open.wave + 1, hosts: open.given, superseded_by: number }
    const payload = { ...toEntryPayload(open, { nome: null }), ...more }
    acts.push({ type: HubEventType.rolloutUndone, payload })
  }
  if (waves === undefined) return { rollout: undefined, acts }
  const { rules, startedBy, hosts, before } = waves
  // What hosts were offered that the one before had not reached: it may be why this one follows.
  const base = open?.subject.base ?? before.number
  const rollout = newRollout<RootsSubject>({
    id: newRolloutId(),
    subject: { kind: 'roots', epoch, number, base },
    ...rules,
    startedBy,
    createdAt: now,
  })
  await writer.rollouts.insert(rollout)
  const payload = { ...toEntryPayload(rollout, { nome: null }), ...toRulesPayload(rollout, hosts) }
  acts.push({ type: HubEventType.rolloutStarted, payload })
  return { rollout, acts }
}

/** While a set goes out in waves, the roots of the set that all others are held to. docs/protocol.md RLO-33. */
export async function findRootsHeldTo(
  reader: StoreReader,
): Promise<readonly Certificate[] | undefined> {
  const open = await findOpenRoots(reader)
  if (open === undefined) return undefined
  const { epoch, base } = open.subject
  const set = await reader.findRootSetUpTo({ epoch, number: base })
  return set && parseCertificatesPem(set.pem)
}

export async function findOpenRoots(reader: StoreReader): Promise<RootsRollout | undefined> {
  const open: Rollout | undefined = await reader.rollouts.findOpenOf('roots')
  return open !== undefined && isRootsRollout(open) ? open : undefined
}
