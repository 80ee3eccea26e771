// What needs somebody: one line for one cause, with the way to what helps.

import type { ComponentChildren, JSX } from 'preact'
import { now } from '../../api/clock.ts'
import type { AdminFleetSummary, AdminUrgentHost } from '../../../protocol/admin/fleet-summary.ts'
import { hrefOf } from '../../frame/router.ts'
import { describeDuration } from '../../parts/durations.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/pill.tsx'
import { shortenHostname } from '../../parts/shorten-hostname.ts'
import { describeRelative, describeTime, formatCount } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { describeSilence, isHeardOf } from './describe-silence.ts'
import { type Attention, listAttention } from './list-attention.ts'

interface Line {
  readonly key: string
  readonly tone: Tone
  readonly icon: IconName
  readonly title: string
  /** Whole, of what the title shortens. */
  readonly hint?: string
  readonly text: ComponentChildren
  readonly at?: string | undefined
  readonly atText?: string | undefined
  readonly href: string
  readonly label: string
}

const NAMED_HOSTS = 2

export function AttentionCard({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element {
  const { overview } = words()
  const lines = listAttention(summary).map(describeAttention)
  return (
    <section class="card" aria-labelledby="attention">
      <header>
        <h2 id="attention">{overview.attention}</h2>
        {lines.length > 0 && <span class="faint">{overview.urgentFirst}</span>}
      </header>
      {lines.length === 0 && (
        <p class="body muted row">
          <Icon name="check" /> {overview.nothingWaits}
        </p>
      )}
      <ul class="list">
        {lines.map(({ key, tone, icon, title, hint, text, at, atText, href, label }) => (
          <li key={key}>
            <span class={`badge ${tone}`}>
              <Icon name={icon} />
            </span>
            <div>
              <b title={hint}>{title}</b>
              <p>{text}</p>
            </div>
            <div class="at">
              {at !== undefined && describeRelative(at)}
              {atText !== undefined && <small>{atText}</small>}
            </div>
            <a class="button small" href={href}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function describeAttention(attention: Attention): Line {
  const { overview } = words()
  switch (attention.kind) {
    case 'silent': {
      const { host } = attention
      return {
        key: `silent ${host.agente_id}`,
        tone: 'late',
        icon: 'alarm',
        title: overview.silentTitle(shortenHostname(host.hostname)),
        hint: host.hostname,
        text: sayNothingRefused(host),
        at: host.not_after,
        atText: overview.ends(describeTime(host.not_after)),
        href: hrefOf(`/hosts/${host.agente_id}`),
        label: overview.openHost,
      }
    }
    case 'refused': {
      const { hosts, reason, endsAt } = attention
      const named = hosts.slice(0, NAMED_HOSTS).map(({ hostname }) => shortenHostname(hostname))
      return {
        key: `refused ${reason}`,
        tone: 'late',
        icon: 'alarm',
        title: overview.refusedTitle(
          overview.and(named.join(', '), hosts.length - named.length),
          hosts.length,
        ),
        text: reason,
        at: endsAt,
        atText: overview.ends(describeTime(endsAt)),
        href: hrefOf(`/hosts/${hosts[0]?.agente_id ?? ''}`),
        label: overview.openHost,
      }
    }
    case 'expired': {
      const { host } = attention
      return {
        key: `expired ${host.agente_id}`,
        tone: 'bad',
        icon: 'clock-alert',
        title: overview.expiredTitle(shortenHostname(host.hostname)),
        hint: host.hostname,
        text: overview.expiredText(asSentence(describeSilence(host, now.value))),
        at: host.not_after,
        atText: overview.ended(describeTime(host.not_after)),
        href: hrefOf(`/hosts/${host.agente_id}`),
        label: overview.openHost,
      }
    }
    case 'failed': {
      const { status, reason, count, example } = attention.failures
      const say = status === 'falhou' ? overview.failedTitle : overview.waitingTitle
      return {
        key: `failed ${status} ${reason}`,
        tone: status === 'falhou' ? 'bad' : 'due',
        icon: status === 'falhou' ? 'x' : 'alarm',
        title: say(count, example.nome),
        text: overview.onHost(shortenHostname(example.hostname), reason),
        href: hrefOf(`/hosts/${example.agente_id}`),
        label: overview.seeWhy,
      }
    }
    case 'frozen': {
      const { id, nome, kind, reason } = attention.rollout
      return {
        key: `frozen ${id}`,
        tone: 'late',
        icon: 'snowflake',
        title: overview.frozenTitle(nome ?? nameOfKind(kind)),
        text: reason ?? '',
        href: hrefOf(`/rollouts/${id}`),
        label: overview.openRollout,
      }
    }
    case 'not_revoked':
      return {
        key: 'not revoked',
        tone: 'due',
        icon: 'octagon-x',
        title: overview.notRevokedTitle(attention.count),
        text: overview.notRevokedText(attention.reason ?? ''),
        atText: attention.since && overview.since(describeTime(attention.since)),
        href: hrefOf('/revocations'),
        label: overview.whatToDo,
      }
    case 'webhook': {
      const {
        id,
        origin,
        error,
        attempts,
        waiting,
        dead,
        disabled,
        next_attempt_at: next,
      } = attention.webhook
      return {
        key: `webhook ${id}`,
        tone: 'due',
        icon: 'webhook',
        title: disabled
          ? overview.webhookDisabled(origin)
          : waiting > 0
            ? overview.webhookTitle(origin, formatCount(waiting))
            : overview.webhookDead(origin, formatCount(dead)),
        text: error === null ? '' : overview.webhookText(error, attempts),
        at: next ?? undefined,
        atText: next === null ? undefined : overview.nextAttempt,
        href: hrefOf(`/webhooks/${id}`),
        label: overview.openWebhook,
      }
    }
    case 'refusals':
      return {
        key: 'refusals',
        tone: 'info',
        icon: 'key',
        title: overview.refusalsTitle(attention.count),
        text: overview.refusalsText,
        href: hrefOf('/audit', { type: 'admin_refused' }),
        label: overview.openLog,
      }
  }
}

function sayNothingRefused(host: AdminUrgentHost): string {
  const { overview, times } = words()
  const at = now.value
  if (host.connected === true)
    return overview.silentText(true, asSentence(describeSilence(host, at)))
  if (host.last_contact_at !== null && isHeardOf(host, at)) {
    return overview.pollsText(describeDuration(at - Date.parse(host.last_contact_at), times))
  }
  return overview.silentText(false, describeSilence(host, at))
}

function asSentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

export function nameOfKind(kind: string): string {
  const { kinds } = words().overview
  return kind in kinds ? kinds[kind as keyof typeof kinds] : kind
}
