// The verdict, the hosts that it is about, and for how long the hub may stay down.

import type { JSX } from 'preact'
import { now } from '../../api/clock.ts'
import type { AdminOperationName } from '../../api/operations.ts'
import type { AdminFleetSummary, AdminUrgentHost } from '../../../protocol/admin/fleet-summary.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Command } from '../../parts/command.tsx'
import { describeDuration } from '../../parts/durations.ts'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { Icon } from '../../parts/icon.tsx'
import { describeTime, formatCount } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { decideSurvival } from './decide-survival.ts'
import { decideVerdict, type Verdict } from './decide-verdict.ts'
import { shortenHostname } from '../../parts/shorten-hostname.ts'
import { describeSilence, isHeardOf } from './describe-silence.ts'

const SHOWN_MAX = 4

export function VerdictCard({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element {
  const { overview } = words()
  const verdict = decideVerdict(summary)
  return (
    <section class="card verdict" aria-labelledby="verdict">
      <div class="say">
        <h2 id="verdict">{sayVerdict(verdict, summary)}</h2>
        <p>{sayRest(verdict, summary)}</p>
        {verdict.kind === 'empty' ? <FirstSteps /> : <UrgentHosts summary={summary} />}
      </div>
      <div class="survival">
        <h3>{overview.mayStayDown}</h3>
        <Survival summary={summary} />
      </div>
    </section>
  )
}

function sayVerdict(verdict: Verdict, { agentes }: AdminFleetSummary): string {
  const { overview, times } = words()
  const left = (at: string): string => describeDuration(Date.parse(at) - now.value, times)
  switch (verdict.kind) {
    case 'empty':
      return overview.empty
    case 'hub_not_ready':
      return overview.hubNotReady(verdict.subsystems.join(', '))
    case 'ca_not_ready':
      return overview.caNotReady
    case 'late': {
      const { late, expired, endsAt } = verdict
      return [
        late > 0 ? overview.late(late) : '',
        expired > 0 ? overview.expired(expired) : '',
        endsAt === undefined ? '' : overview.firstEnds(left(endsAt)),
      ]
        .filter((sentence) => sentence !== '')
        .join(' ')
    }
    case 'well':
      return overview.well(agentes.registered)
  }
}

function sayRest(verdict: Verdict, summary: AdminFleetSummary): string {
  const { overview, times } = words()
  if (verdict.kind === 'empty') return overview.emptyHint
  if (verdict.kind === 'ca_not_ready' && verdict.endsAt !== undefined) {
    return overview.caEnds(describeDuration(Date.parse(verdict.endsAt) - now.value, times))
  }
  const { hub, agentes } = summary
  if (hub === null) return overview.withoutHub
  if (verdict.kind === 'hub_not_ready') {
    return hub.subsystems
      .filter(({ ready }) => !ready)
      .map(({ name, reason }) => `${name}: ${reason}`)
      .join(' · ')
  }
  const others =
    verdict.kind === 'late' ? `${overview.others(formatCount(agentes.registered))} ` : ''
  return `${others}${overview.ready}`
}

/** The first day. */
function FirstSteps(): JSX.Element {
  const { overview } = words()
  return (
    <ol class="first-steps">
      <li>
        {overview.emptyToken} <OrHere name="createToken" href={hrefOf('/enrolment')} />
        <div>
          <Command text={svc.createToken} />
        </div>
      </li>
      <li>{overview.emptyEnrol}</li>
      <li>
        {overview.emptyCargo} <OrHere name="createCargo" href={hrefOf('/cargo', { create: '1' })} />
        <div>
          <Command text={svc.createCertificate} />
        </div>
      </li>
    </ol>
  )
}

/** The same by a form, for who may. */
function OrHere({
  name,
  href,
}: {
  readonly name: AdminOperationName
  readonly href: string
}): JSX.Element {
  return (
    <IfAllowed name={name}>
      <a class="link" href={href}>
        {words().overview.orHere}
      </a>
    </IfAllowed>
  )
}

function UrgentHosts({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element | null {
  const { atrasados, expirados } = summary
  const late = atrasados.first.slice(0, SHOWN_MAX)
  const expired = expirados.first.slice(
    0,
    Math.max(late.length < SHOWN_MAX ? 1 : 0, SHOWN_MAX - late.length),
  )
  if (late.length + expired.length === 0) return null
  return (
    <ul class="lates">
      {[...late, ...expired].map((host) => (
        <li key={host.agente_id}>
          <UrgentHost host={host} isExpired={expired.includes(host)} />
        </li>
      ))}
    </ul>
  )
}

function UrgentHost({
  host,
  isExpired,
}: {
  readonly host: AdminUrgentHost
  readonly isExpired: boolean
}): JSX.Element {
  const { overview, times } = words()
  const left = isExpired
    ? overview.since(describeTime(host.not_after))
    : describeDuration(Date.parse(host.not_after) - now.value, times)
  return (
    <a href={hrefOf(`/hosts/${host.agente_id}`)}>
      <span class={`row ${isExpired ? 'c-bad' : 'c-late'} num`}>
        <Icon name={isExpired ? 'x' : 'alarm'} small />
        <b>{left}</b>
      </span>
      <b title={host.hostname}>{shortenHostname(host.hostname)}</b>
      <span>{sayWhy(host)}</span>
    </a>
  )
}

function sayWhy(host: AdminUrgentHost): string {
  const { overview } = words()
  if (host.waiting_reason !== null) return overview.refusedBy
  return isHeardOf(host, now.value) ? overview.polls : describeSilence(host, now.value)
}

function Survival({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element {
  const { overview, times } = words()
  const { atrasados, expirados } = summary
  const survival = decideSurvival(summary)
  if (survival === 'nothing_ends') return <p>{overview.nothingEnds}</p>
  if (survival === 'none_on_time') return <p>{overview.noneOnTime}</p>
  const { first, losing } = survival
  const leftMs = Math.max(0, Date.parse(first.not_after) - now.value)
  const most = Math.max(1, ...losing.map(({ agentes }) => agentes))
  const late = atrasados.total + expirados.total
  return (
    <>
      <div class="big">
        <BigDuration text={describeDuration(leftMs, times)} />
      </div>
      <p>
        {overview.thenHost}
        <a class="link" href={hrefOf(`/hosts/${first.agente_id}`)}>
          {first.hostname}
        </a>
        {overview.thenLoses(first.nome ?? overview.identity)}
        {late > 0 && overview.lateNotCounted(late)}
      </p>
      <div class="lose">
        {losing
          .filter(({ agentes }) => agentes > 0)
          .map(({ hours, agentes }) => (
            <Losing key={hours} {...{ hours, agentes, most }} />
          ))}
      </div>
    </>
  )
}

/** The units are smaller than the numbers; `3 h 25` gets the one that it goes without elsewhere. */
function BigDuration({ text }: { readonly text: string }): JSX.Element {
  const { times } = words()
  const parts = text.split(' ')
  if (parts.length === 3) parts.push(times.minute)
  return (
    <>
      {parts.map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <small key={at}>{` ${part}${at < parts.length - 1 ? ' ' : ''}`}</small>
        ),
      )}
    </>
  )
}

function Losing({
  hours,
  agentes,
  most,
}: {
  readonly hours: number
  readonly agentes: number
  readonly most: number
}): JSX.Element {
  const { overview } = words()
  return (
    <>
      <span>{overview.after(hours)}</span>
      <i style={{ '--w': `${(100 * agentes) / most}%` }} />
      <span>{overview.hosts(formatCount(agentes))}</span>
    </>
  )
}
