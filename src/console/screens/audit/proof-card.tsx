// The verdict on the log first, then what it rests on, then what somebody can do.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from '../../parts/answer.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { describeDuration } from '../../parts/durations.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { announce } from '../../parts/live-region.tsx'
import { describeTime, describeUtcDay, formatCount } from '../../parts/time.tsx'
import { Days } from '../../pictures/days.tsx'
import { shortHash } from '../../pictures/hash-bars.tsx'
import { words } from '../../words/words.ts'
import { decideDays } from './day-counts.ts'
import { decideLogVerdict, type LogVerdict } from './decide-log-verdict.ts'
import { FindingDetails, titleOfFinding } from './finding-details.tsx'
import {
  beginLogCheck,
  checkAll,
  checkSinceAnchor,
  dropAnchor,
  goOnChecking,
  keepCheckedAsAnchor,
  type LogCheck,
  logCheck,
  stopChecking,
} from './log-check.ts'
import { TrustDialog } from './trust-dialog.tsx'

/** What is computed within that has no speed that says anything. */
const SPOKEN_OF_MS = 200

export function ProofCard(): JSX.Element {
  useEffect(beginLogCheck, [])
  const check = logCheck.value
  const verdict = decideLogVerdict(check)
  const { tone, icon, title } = lookOf(verdict)
  useEffect(() => {
    if (verdict.kind === 'good' || verdict.kind === 'bad') announce(title)
  }, [verdict.kind])
  return (
    <section class="card proof" aria-labelledby="log-verdict">
      <div class="say">
        <div class="row">
          <span class={`seal ${tone}`}>
            <Icon name={icon} />
          </span>
          <div class="grow">
            <h2 id="log-verdict">{title}</h2>
            <Cause verdict={verdict} check={check} />
          </div>
        </div>
        <CheckedDays check={check} />
      </div>
      <div class="do">
        <Grounds check={check} verdict={verdict} />
        <Acts check={check} verdict={verdict} />
      </div>
    </section>
  )
}

interface Look {
  readonly tone: 'ok' | 'bad' | 'due' | 'off'
  readonly icon: IconName
  readonly title: string
}

const LOOKS = {
  asking: { tone: 'off', icon: 'scan' },
  empty: { tone: 'off', icon: 'scroll' },
  failed: { tone: 'due', icon: 'info' },
} as const

function lookOf(verdict: LogVerdict): Look {
  const { audit } = words()
  const say = audit.verdict
  if (verdict.kind === 'good') {
    return { tone: 'ok', icon: 'shield-check', title: say.good(formatCount(verdict.entries)) }
  }
  if (verdict.kind === 'bad') {
    return { tone: 'bad', icon: 'octagon-x', title: titleOfFinding(verdict.finding) }
  }
  if (!('left' in verdict)) {
    const { tone, icon } = LOOKS[verdict.kind]
    return { tone, icon, title: say[verdict.kind] }
  }
  const title = say[verdict.kind](formatCount(verdict.left))
  return { tone: verdict.kind === 'running' ? 'off' : 'due', icon: 'scan', title }
}

function Cause({
  verdict,
  check,
}: {
  readonly verdict: LogVerdict
  readonly check: LogCheck
}): JSX.Element | null {
  const { audit } = words()
  const { from, count, total = 0, anchor, error } = check
  if (verdict.kind === 'bad') return <FindingDetails finding={verdict.finding} anchor={anchor} />
  if (verdict.kind === 'failed' && error !== undefined) return <Failure error={error} />
  if (verdict.kind === 'running') {
    return (
      <>
        <p class="num">
          {audit.progress(formatCount(count), formatCount(total), formatCount(rateOf(check)))}
        </p>
        <progress value={count - from} max={Math.max(1, total - from)} aria-label={audit.check} />
      </>
    )
  }
  if (verdict.kind === 'waiting') return <p>{audit.verdict.waitingWhy}</p>
  if (verdict.kind !== 'good' && verdict.kind !== 'stopped') return null
  return <p>{sayComputed(check)}</p>
}

/** What was computed now, and what earlier. */
function sayComputed(check: LogCheck): string {
  const { audit } = words()
  const { from, count, anchor } = check
  const now = count - from
  const at = anchor === undefined ? '' : describeTime(anchor.keptAt)
  const sentences =
    now === 0 ? [audit.noneNew(at)] : [audit.computedNow(formatCount(now), describeSpeed(check))]
  if (from > 0) sentences.push(audit.computedBefore(formatCount(from), at), audit.anchorLimit)
  return sentences.join(' ')
}

/** Nothing where it took no time to speak of. */
function describeSpeed(check: LogCheck): string {
  const { audit, times } = words()
  const { spentMs } = check
  if (spentMs < SPOKEN_OF_MS) return ''
  const time =
    spentMs < 10_000
      ? `${formatCount(Math.round(spentMs / 100) / 10)} ${times.second}`
      : describeDuration(spentMs, times)
  return audit.computedIn(time, formatCount(rateOf(check)))
}

function rateOf({ count, from, spentMs }: LogCheck): number {
  return spentMs === 0 ? 0 : Math.round(((count - from) / spentMs) * 1000)
}

function CheckedDays({ check }: { readonly check: LogCheck }): JSX.Element | null {
  const { audit } = words()
  const { anchor, days, head, computedUntil, from } = check
  const bars = decideDays({
    earlier: from > 0 ? (anchor?.days ?? []) : [],
    now: days,
    computedUntil: computedUntil ?? (from > 0 ? anchor?.place.timestamp : undefined),
    newest: head?.timestamp,
    anchorAt: anchor?.place.timestamp,
  })
  return (
    <Days bars={bars} words={{ ...audit.days, count: formatCount, formatDay: describeUtcDay }} />
  )
}

function Grounds({
  check,
  verdict,
}: {
  readonly check: LogCheck
  readonly verdict: LogVerdict
}): JSX.Element {
  const { audit } = words()
  const [isTrustOpen, setTrustOpen] = useState(false)
  const { anchor, compared, head, signedUntil, canVerifySignature } = check
  const isBad = verdict.kind === 'bad'
  return (
    <ul class="anchors">
      {!isBad && anchor === undefined && (
        <Ground icon="anchor" tone="faint">
          <b>{audit.noAnchor}</b> {audit.noAnchorWhy}
        </Ground>
      )}
      {!isBad && compared !== undefined && (
        <Ground icon="check" tone="c-ok">
          <b>{audit.same}</b>{' '}
          {audit.sameWhy(formatCount(compared.place.seq), describeTime(compared.keptAt))}
        </Ground>
      )}
      {!isBad && anchor !== undefined && anchor.keptAt !== compared?.keptAt && (
        <Ground icon="anchor" tone="c-ok">
          <b>{audit.kept}</b> {audit.keptWhy(formatCount(anchor.place.seq))}
        </Ground>
      )}
      {!isBad && signedUntil > 0 && (
        <Ground icon="check" tone="c-ok">
          <b>{audit.signed}</b> {audit.signedWhy(formatCount(signedUntil))}
        </Ground>
      )}
      {!isBad && signedUntil === 0 && (
        <Ground icon="info" tone="faint">
          {canVerifySignature ? audit.notSigned : audit.cannotVerify}
        </Ground>
      )}
      {head !== undefined && (
        <Ground icon={isBad ? 'info' : 'check'} tone={isBad ? 'faint' : 'c-ok'}>
          <b>{audit.head}</b> <code>{shortHash(head.hash_atual)}</code>
          <CopyButton text={head.hash_atual} label={audit.copyHead} />
        </Ground>
      )}
      <Ground icon="info" tone="faint">
        {audit.trust}{' '}
        <button type="button" class="link" onClick={() => setTrustOpen(true)}>
          {audit.trustLink}
        </button>
        {isTrustOpen && <TrustDialog onClose={() => setTrustOpen(false)} />}
      </Ground>
    </ul>
  )
}

function Ground({
  icon,
  tone,
  children,
}: {
  readonly icon: IconName
  readonly tone: string
  readonly children: JSX.Element | string | readonly (JSX.Element | string | false)[]
}): JSX.Element {
  return (
    <li>
      <span class={tone}>
        <Icon name={icon} small />
      </span>
      <div>{children}</div>
    </li>
  )
}

function Acts({
  check,
  verdict,
}: {
  readonly check: LogCheck
  readonly verdict: LogVerdict
}): JSX.Element | null {
  const { audit } = words()
  const { kind } = verdict
  if (kind === 'asking' || kind === 'empty') return null
  const isRunning = kind === 'running'
  const mayKeep = (kind === 'good' || kind === 'stopped') && check.count > 0
  const isAnchorRefused =
    verdict.kind === 'bad' && ['key', 'rewritten'].includes(verdict.finding.kind)
  return (
    <div class="row acts">
      {isRunning && <Act icon="x" label={audit.stop} onClick={stopChecking} />}
      {(kind === 'waiting' || kind === 'failed') && (
        <Act icon="scan" label={audit.check} onClick={checkSinceAnchor} isPrimary />
      )}
      {kind === 'stopped' && (
        <Act icon="scan" label={audit.goOn} onClick={goOnChecking} isPrimary />
      )}
      {!isRunning && !isAnchorRefused && (
        <Act icon="scan" label={audit.checkAll} onClick={checkAll} />
      )}
      {isAnchorRefused && <Act icon="scan" label={audit.dropAnchor} onClick={dropAnchor} />}
      {mayKeep && (
        <Act
          icon="anchor"
          label={audit.keepAnchor}
          onClick={() => {
            keepCheckedAsAnchor()
            announce(audit.anchorKept)
          }}
        />
      )}
    </div>
  )
}

function Act({
  icon,
  label,
  onClick,
  isPrimary = false,
}: {
  readonly icon: IconName
  readonly label: string
  readonly onClick: () => void
  readonly isPrimary?: boolean
}): JSX.Element {
  return (
    <button type="button" class={`button small${isPrimary ? ' primary' : ''}`} onClick={onClick}>
      <Icon name={icon} small />
      {label}
    </button>
  )
}
