// What the hub has signed of its log, and where it keeps that: an earlier vault that somebody puts back is found by what is elsewhere.

import type { ComponentChildren, JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import type { Shown } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { Answer, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Pill } from '../../parts/pill.tsx'
import { formatCount, Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { judgePlaces, type PlaceState } from './judge-places.ts'

type Signed = AdminReplies['showCheckpoint']
type Examined = AdminReplies['showExamination']

export function CheckpointsCard({
  signed,
  examined,
}: {
  readonly signed: Shown<Signed>
  readonly examined: Shown<Examined>
}): JSX.Element {
  const { hub: text } = words()
  return (
    <section class="card" aria-labelledby="checkpoints">
      <header>
        <h2 id="checkpoints">{text.checkpoints}</h2>
      </header>
      <Answer shown={signed}>
        {(newest) =>
          newest.checkpoint === null || newest.key === null ? (
            <Notice title={text.noneSigned} hint={text.noneSignedHint}>
              <Command text={svc.showCheckpoint} />
            </Notice>
          ) : (
            <>
              <dl class="facts">
                <dt>{text.newest}</dt>
                <dd>{sayCovered(newest)}</dd>
                <Places examined={examined} />
                <dt>{text.logKey}</dt>
                <dd>
                  <code class="breaks">{newest.key}</code> <CopyButton text={newest.key} />
                </dd>
              </dl>
              <div class="body commands">
                <p class="muted">{text.keepOne}</p>
                <Command text={svc.fileCheckpoint} />
              </div>
            </>
          )
        }
      </Answer>
    </section>
  )
}

function sayCovered({ entries, head = null }: Signed): string {
  const { hub: text } = words()
  const newest = head?.seq ?? entries
  return newest <= entries ? text.coversAll(entries) : text.covers(formatCount(entries), newest)
}

function Places({ examined }: { readonly examined: Shown<Examined> }): JSX.Element | null {
  const { hub: text } = words()
  const { data } = examined
  // Why there is no answer is said beside the segments, which are of the same one.
  if (data === undefined) return null
  const { checkpoints: facts, time } = data
  if (facts === null) {
    return (
      <>
        <dt>{text.places}</dt>
        <dd class="muted">{text.unknownPlaces}</dd>
      </>
    )
  }
  const { vault, outside } = judgePlaces(facts, time)
  return (
    <>
      <dt>{text.inVault}</dt>
      <dd>
        <Place state={vault} at={facts.vault_at} />
      </dd>
      <dt>{text.outside}</dt>
      <dd>
        <Place state={outside} at={facts.outside_at}>
          {text.outsideHint} <code>SVC_CHECKPOINT_PATH</code>
        </Place>
      </dd>
    </>
  )
}

function Place({
  state,
  at,
  children,
}: {
  readonly state: PlaceState
  readonly at: string | null
  /** What to do where none is kept. */
  readonly children?: ComponentChildren
}): JSX.Element {
  const { hub: text } = words()
  if (state === 'none') {
    return (
      <>
        <Pill tone="due" icon="info" text={text.nowhere} />
        <div class="muted">{children}</div>
      </>
    )
  }
  if (state === 'unknown') return <span class="muted">{text.notYet}</span>
  return (
    <>
      {state === 'behind' && <Pill tone="due" icon="clock-alert" text={text.placeBehind} />}
      {state === 'whole' && <Pill tone="ok" icon="check" text={text.placeWhole} />}{' '}
      {at !== null && (
        <span class="faint">
          <Relative at={at} />
        </span>
      )}
    </>
  )
}
