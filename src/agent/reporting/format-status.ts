// What `svc-agent status` prints for people.

import { formatDurationMs } from '../../platform/durations.ts'
import type { HeadingKey } from '../../protocol/heading-words.ts'
import { headingIn, type Language, stateIn } from '../../protocol/spoken-words.ts'
import type { AgentStatus, StreamDescription } from './status.ts'

type Field = readonly [label: HeadingKey, text: string]

export function formatStatus(language: Language, status: AgentStatus): string {
  const { identity } = status
  const fields: readonly Field[] = [
    ['running', stateIn(language, status.running ? 'yes' : 'no')],
    ['hostname', identity?.hostname ?? '(no identity)'],
    ...(identity === null ? [] : describeIdentity(language, status, identity)),
    ...describeLog(language, status.log),
    ...optional('last poll', status.last_poll_at),
    ...optional('next poll', status.next_poll_at),
    ...(status.stream ? [['stream', describeStream(language, status.stream)] as const] : []),
    ['events waiting', String(status.events_waiting)],
    ...optional('trust_key', status.roots?.trust_key ?? null),
    ...optional('roots refused', status.roots?.refused ?? null),
    ...describeSurvival(status),
    ...status.problems.map((problem) => ['problem', problem] as const),
  ]
  return [
    'svc-agent status',
    ...fields.map(([label, text]) => `${headingIn(language, label)}: ${text}`),
    ...status.deliveries.map((delivery) => describeDelivery(language, delivery)),
  ].join('\n')
}

function describeIdentity(
  language: Language,
  { state, hub }: AgentStatus,
  identity: NonNullable<AgentStatus['identity']>,
): Field[] {
  return [
    ['state', stateIn(language, state)],
    ...describeHub(hub),
    ['cert serial', identity.cert_serial],
    ['not_after', identity.not_after],
    ['recipient fingerprint', identity.recipient_fingerprint ?? '(none)'],
  ]
}

function optional(label: HeadingKey, text: string | null): Field[] {
  return text === null ? [] : [[label, text]]
}

function describeHub(hub: AgentStatus['hub']): Field[] {
  if (!hub) return []
  const words = hub.said === 'accepted' ? 'accepted this identity' : `refused it: ${hub.said}`
  return [['hub', `${words}, at ${hub.at}`]]
}

/** Nothing as long as the hub has shown nothing. */
function describeLog(language: Language, log: AgentStatus['log']): Field[] {
  if (log === undefined || log.state === 'unknown') return []
  const seen = `${log.entries ?? 0} entries, checked at ${log.checked_at}`
  const alarms = log.alarms.map(
    ({ at, reason }) => `${stateIn(language, 'alarm')} at ${at}: ${reason}`,
  )
  return [['audit log', [...alarms, seen].join('; ')]]
}

function describeStream(language: Language, { state, since, problem }: StreamDescription): string {
  const words = state === 'not_offered' ? 'not offered by the hub' : stateIn(language, state)
  const reason = state === 'down' && problem !== null ? ` (${problem})` : ''
  return `${words}${since === null ? '' : ` since ${since}`}${reason}`
}

/** A running agent of 0.3.0 or earlier does not send this field. */
function describeSurvival({
  survival_seconds: seconds,
  first_to_end: first,
}: Partial<Pick<AgentStatus, 'survival_seconds' | 'first_to_end'>>): Field[] {
  if (typeof seconds !== 'number' || !first) return []
  const what = first.name === null ? 'the identity' : `delivery ${first.name}`
  const duration = formatDurationMs(seconds * 1000)
  return [['survives without the hub', `${duration} (${what}, until ${first.not_after})`]]
}

function describeDelivery(language: Language, delivery: AgentStatus['deliveries'][number]): string {
  const { name, version, cancelled, progress, cert_serial: serial, not_after: notAfter } = delivery
  const state = cancelled
    ? `${stateIn(language, 'cancelada')}, no longer renewed`
    : stateIn(language, progress)
  const missing = '(missing)'
  const what =
    serial === null
      ? `file ${delivery.is_installed ? 'in place' : missing}`
      : `serial ${serial}, ${headingIn(language, 'not_after')} ${notAfter ?? missing}`
  const hook = delivery.hook_failure === null ? '' : `, hook failed: ${delivery.hook_failure}`
  return `${headingIn(language, 'delivery')} ${name} v${version}: ${state}, ${what}${hook}`
}
