// What a rollout is of, in words and in entries of the log.

import type { Rollout } from '../../domain/rollout.ts'
import { isLoadRollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { findItsCargo } from './find-rollout.ts'

export interface RolloutName {
  /** Of the carga; null where the rollout is of none. */
  readonly nome: string | null
  /** `load site`, or the kind. */
  readonly text: string
}

export async function nameRollout(reader: StoreReader, rollout: Rollout): Promise<RolloutName> {
  if (!isLoadRollout(rollout)) return { nome: null, text: rollout.subject.kind }
  const { name } = await findItsCargo(reader, rollout)
  return { nome: name, text: `load ${name}` }
}

/** docs/protocol.md RLO-22. */
export function toEntryPayload(
  { id, subject }: Rollout,
  { nome }: Pick<RolloutName, 'nome'>,
): Readonly<Record<string, unknown>> {
  const of = { rollout: id, kind: subject.kind }
  if (subject.kind === 'rotation') return { ...of, where: subject.where }
  if (subject.kind === 'update') {
    return { ...of, programa: subject.version, where: subject.where }
  }
  if (subject.kind === 'roots') return { ...of, numero: subject.number, epoca: subject.epoch }
  return { ...of, carga_id: subject.cargoId, nome, versao: subject.version }
}
