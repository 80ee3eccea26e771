// The hub itself: what it consists of, and its last hour.

import type { JSX } from 'preact'
import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'
import { hrefOf } from '../../frame/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { formatCount } from '../../parts/time.tsx'
import { Sparkline } from '../../pictures/sparkline.tsx'
import { words } from '../../words/words.ts'

export function HubCard({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element | null {
  const { overview } = words()
  const { hub, samples, agentes } = summary
  if (hub === null) return null
  const figures =
    samples === null
      ? []
      : ([
          [overview.requests, samples.requests_per_second, overview.aSecond],
          [overview.within, samples.request_p99_ms, 'ms'],
          [overview.caWithin, samples.ca_p99_ms, 'ms'],
          [
            overview.connected,
            samples.connected,
            overview.outOf(formatCount(agentes.registered + agentes.atrasado)),
          ],
          [overview.busy, samples.busy_percent, '%'],
        ] as const)
  const isCounted = figures.some(([, numbers]) => numbers.some((one) => one !== null))
  return (
    <section class="card" aria-labelledby="hub">
      <header>
        <h2 id="hub">{overview.hubHour}</h2>
        <span class="grow" />
        <div class="legend">
          {hub.subsystems.map(({ name, ready, reason }) => (
            <span key={name} class={ready ? undefined : 'c-bad'} title={reason}>
              <Icon name={ready ? 'check' : 'x'} small />
              {nameOfSubsystem(name)}
            </span>
          ))}
        </div>
        <a class="link" href={hrefOf('/hub')}>
          {overview.hubMore}
        </a>
      </header>
      {isCounted ? (
        <dl class="stats">
          {figures.map(([label, numbers, unit]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                {lastOf(numbers)} <small>{unit}</small>
              </dd>
              <dd class="picture">
                <Sparkline numbers={numbers} label={label} />
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <p class="body muted">{overview.firstMinute}</p>
      )}
    </section>
  )
}

function nameOfSubsystem(name: string): string {
  const { subsystems } = words().overview
  return name in subsystems ? subsystems[name as keyof typeof subsystems] : name
}

function lastOf(numbers: readonly (number | null)[]): string {
  const last = numbers.findLast((one) => one !== null)
  if (last === undefined || last === null) return '–'
  return formatCount(last >= 100 ? Math.round(last) : Math.round(last * 10) / 10)
}
