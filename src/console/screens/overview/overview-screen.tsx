// What an on-call engineer opens at night: the verdict first, then the cause, then what helps.

import type { JSX } from 'preact'
import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'
import { svc } from '../../commands/svc.ts'
import { here, setQuery } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { chosenHorizon, HORIZONS, useFleetSummary } from '../../frame/use-fleet-summary.ts'
import { Answer } from '../../parts/answer.tsx'
import { isNarrow } from '../../parts/is-narrow.ts'
import { formatCount } from '../../parts/time.tsx'
import { EndsPicture, EndsTable } from '../../pictures/ends.tsx'
import { words } from '../../words/words.ts'
import { AttentionCard } from './attention-card.tsx'
import { HubCard } from './hub-card.tsx'
import { NowCard } from './now-card.tsx'
import { RolloutsCard } from './rollouts-card.tsx'
import { VerdictCard } from './verdict-card.tsx'

export function OverviewScreen(): JSX.Element {
  const { overview } = words()
  const shown = useFleetSummary()
  return (
    <Screen title={overview.title} commands={[svc.status, svc.doctor]}>
      <Answer shown={shown.value}>
        {(summary) => (
          <>
            <VerdictCard summary={summary} />
            <EndsCard summary={summary} />
            <div class="two">
              <AttentionCard summary={summary} />
              <div class="column">
                <RolloutsCard summary={summary} />
                <NowCard />
              </div>
            </div>
            <HubCard summary={summary} />
          </>
        )}
      </Answer>
    </Screen>
  )
}

function EndsCard({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element {
  const { overview } = words()
  const { certificados: ends } = summary
  const horizon = chosenHorizon()
  const isTable = here.value.query['as'] === 'table'
  const counts = [
    ['expired', '--bad-fill'],
    ['atrasado', '--late-fill'],
    ['renewing', '--due-fill'],
    ['fresh', '--fresh'],
  ] as const
  if (counts.every(([state]) => ends[state] === 0)) {
    return (
      <section class="card" aria-labelledby="ends">
        <header>
          <h2 id="ends">{overview.endsHeading}</h2>
        </header>
        <p class="body muted">{overview.noEnds}</p>
      </section>
    )
  }
  return (
    <section class="card" aria-labelledby="ends">
      <header>
        <h2 id="ends">{overview.endsHeading}</h2>
        <span class="grow" />
        <div class="legend">
          {counts.map(([state, colour]) => (
            <span key={state}>
              <i style={{ background: `var(${colour})` }} />
              {overview.states[state]} <b>{formatCount(ends[state])}</b>
            </span>
          ))}
          <span>
            <i style={{ background: 'var(--accent-fill)', opacity: 0.6 }} />
            {overview.renewals}
          </span>
        </div>
        <span class="segments" role="group" aria-label={overview.span}>
          {HORIZONS.map((span) => (
            <button
              key={span}
              type="button"
              aria-pressed={span === horizon}
              onClick={() =>
                setQuery({ span: span === '48h' ? undefined : span }, { isReplacing: true })
              }
            >
              {overview.spans[span]}
            </button>
          ))}
        </span>
        <button
          type="button"
          class="button small"
          onClick={() => setQuery({ as: isTable ? undefined : 'table' }, { isReplacing: true })}
        >
          {isTable ? overview.asPicture : overview.asTable}
        </button>
      </header>
      <div class="body">
        {isTable ? (
          <EndsTable ends={ends} />
        ) : (
          <EndsPicture summary={summary} isNarrow={isNarrow()} />
        )}
      </div>
    </section>
  )
}
