// A target of a delivery that its host put back, because the new files could not be put in place or were not served.

import type { AgentId, ArtefactName, DeliveryId, Hostname } from '../../protocol/identifiers.ts'
import { EventType } from '../../protocol/words.ts'

/** From the report on, until the target is applied after all. docs/protocol.md DEL-18. */
export interface RevertedTarget {
  readonly deliveryId: DeliveryId
  readonly agentId: AgentId
  /** The name of its file on the host; empty where the agent does not say, as agents up to 0.4.0. */
  readonly target: string
  readonly since: Date
  /** In a first line what went wrong, and below it the last of what the command printed. */
  readonly error: string
}

/** One to tell people of. */
export interface RevertedDelivery {
  readonly hostname: Hostname
  readonly name: ArtefactName
  readonly since: Date
}

/** What an event says of a target; `target` is undefined for one that stands for every target of the delivery. */
export type TargetNews =
  | { readonly kind: 'reverted'; readonly target: string; readonly error: string }
  | { readonly kind: 'settled'; readonly target: string | undefined }

/** More targets of one delivery than anybody has; further ones are in the log only. */
export const REVERTED_TARGETS_MAX = 32

const TARGET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/
const STEP_CHARACTERS_MAX = 32
const REASON_CHARACTERS_MAX = 1024
const OUTPUT_CHARACTERS_MAX = 2048
const OUTPUT_LINES_MAX = 20

/** Undefined for an event that is about no target. */
export function readTargetNews(eventType: string, payload: object): TargetNews | undefined {
  const target = textOf(payload, 'alvo')
  const named = TARGET_NAME.test(target) ? target : undefined
  if (eventType === EventType.targetReverted) {
    return { kind: 'reverted', target: named ?? '', error: describe(payload) }
  }
  const isSettled = eventType === EventType.targetApplied || eventType === EventType.targetRemoved
  return isSettled ? { kind: 'settled', target: named } : undefined
}

/** The targets that a host is to report of what it installed; none where the agent does not say, as agents up to 0.4.0. docs/protocol.md RLO-8. */
export function readAwaitedTargets(payload: object): readonly string[] {
  const named: unknown = Object.hasOwn(payload, 'alvos') ? Reflect.get(payload, 'alvos') : undefined
  if (!Array.isArray(named)) return []
  const targets = named.filter((name) => typeof name === 'string' && TARGET_NAME.test(name))
  return [...new Set(targets as string[])].slice(0, REVERTED_TARGETS_MAX)
}

function describe(payload: object): string {
  const step = textOf(payload, 'step').slice(0, STEP_CHARACTERS_MAX)
  const reason = textOf(payload, 'reason').slice(0, REASON_CHARACTERS_MAX)
  const output = textOf(payload, 'output')
    .slice(-OUTPUT_CHARACTERS_MAX)
    .split('\n')
    .slice(-OUTPUT_LINES_MAX)
    .join('\n')
  const first = `${EventType.targetReverted} ${step}: ${reason}`.replaceAll('\n', ' ')
  return output === '' ? first : `${first}\n${output}`
}

function textOf(payload: object, field: string): string {
  const value: unknown = Object.hasOwn(payload, field) ? Reflect.get(payload, field) : undefined
  return typeof value === 'string' ? value : ''
}
