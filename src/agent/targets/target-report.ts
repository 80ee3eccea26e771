// What is told of a target: it was applied, or everything was put back.

import { basename } from 'node:path'
import { type Static, type TSchema, Type } from 'typebox'
import { UUID_PATTERN } from '../../protocol/identifiers.ts'
import {
  FileTargetAppliedPayload,
  FileTargetRevertedPayload,
  TargetAppliedPayload,
  TargetRemovedPayload,
  TargetRevertedPayload,
} from '../../protocol/schemas.ts'
import { EventType } from '../../protocol/words.ts'

const requestId = Type.String({ pattern: UUID_PATTERN })

function applied<Payload extends TSchema>(payload: Payload) {
  const type = Type.Literal(EventType.targetApplied)
  return Type.Object({ request_id: requestId, entrega_id: requestId, tipo_evento: type, payload })
}

function reverted<Payload extends TSchema>(payload: Payload) {
  const type = Type.Literal(EventType.targetReverted)
  return Type.Object({ request_id: requestId, entrega_id: requestId, tipo_evento: type, payload })
}

export const PairTargetReport = Type.Union([
  applied(TargetAppliedPayload),
  reverted(TargetRevertedPayload),
])
export type PairTargetReport = Static<typeof PairTargetReport>

export const FileTargetReport = Type.Union([
  applied(FileTargetAppliedPayload),
  reverted(FileTargetRevertedPayload),
])
export type FileTargetReport = Static<typeof FileTargetReport>

export const TargetRemovedReport = Type.Object({
  request_id: requestId,
  entrega_id: requestId,
  tipo_evento: Type.Literal(EventType.targetRemoved),
  payload: TargetRemovedPayload,
})
export type TargetRemovedReport = Static<typeof TargetRemovedReport>

/** As it waits on disk, and as it goes through `agent.sock`. */
export const TargetReport = Type.Union([PairTargetReport, FileTargetReport, TargetRemovedReport])
export type TargetReport = PairTargetReport | FileTargetReport | TargetRemovedReport

/** Where a change of a target failed. */
export const FailureStep = TargetRevertedPayload.properties.step
export type FailureStep = Static<typeof FailureStep>

/** What of a failure is told. */
export interface ReportedFault {
  readonly step: FailureStep
  readonly reason: string
  readonly output?: string | undefined
}

interface Change {
  readonly requestId: string
  readonly deliveryId: string
  readonly name: string
  readonly serial: string
  /** Of a file. */
  readonly version: number | undefined
  /** The target's own file. */
  readonly source: string
}

/** Together with the rest the paths stay well under the limit of an event's payload (LIM-3). */
const PATHS_BYTES_MAX = 6000
const REASON_CHARACTERS_MAX = 1000

export function reportApplied(
  change: Change,
  {
    paths,
    isProbed,
    drift: drifted,
  }: {
    readonly paths: readonly string[]
    readonly isProbed: boolean
    readonly drift: readonly string[]
  },
): TargetReport {
  const { requestId: id, deliveryId, name: nome, serial, version, source } = change
  const alvo = nameOf(source)
  const common = { request_id: id, entrega_id: deliveryId, tipo_evento: EventType.targetApplied }
  const files = boundPaths(paths)
  const drift = drifted.length === 0 ? {} : { drift: boundPaths(drifted) }
  if (version !== undefined)
    return { ...common, payload: { nome, alvo, versao: version, files, ...drift } }
  const probe = isProbed ? 'ok' : null
  return { ...common, payload: { nome, alvo, serial, files, probe, ...drift } }
}

export function reportReverted(
  { requestId: id, deliveryId, name: nome, serial, version, source }: Change,
  { step, reason: text, output }: ReportedFault,
): TargetReport {
  const common = { request_id: id, entrega_id: deliveryId, tipo_evento: EventType.targetReverted }
  const printed = output === undefined || output === '' ? {} : { output }
  const fault = { step, reason: boundReason(text), ...printed }
  const alvo = nameOf(source)
  return version === undefined
    ? { ...common, payload: { nome, alvo, serial, ...fault } }
    : { ...common, payload: { nome, alvo, versao: version, ...fault } }
}

/** A target that failed, and is no longer on the host. */
export function reportRemoved(
  change: Pick<Change, 'requestId' | 'deliveryId' | 'name' | 'source'>,
): TargetRemovedReport {
  const { requestId: id, deliveryId, name: nome, source } = change
  const common = { request_id: id, entrega_id: deliveryId, tipo_evento: EventType.targetRemoved }
  return { ...common, payload: { nome, alvo: nameOf(source) } }
}

function nameOf(source: string): string {
  return basename(source)
}

export function boundReason(reason: string): string {
  return reason.length <= REASON_CHARACTERS_MAX
    ? reason
    : `${reason.slice(0, REASON_CHARACTERS_MAX - 1)}…`
}

function boundPaths(paths: readonly string[]): string[] {
  let room = PATHS_BYTES_MAX
  const fitting = paths.filter((path) => {
    room -= Buffer.byteLength(JSON.stringify(path))
    return room >= 0
  })
  const left = paths.length - fitting.length
  return left === 0 ? fitting : [...fitting, `… and ${left} more`]
}
