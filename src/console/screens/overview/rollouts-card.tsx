// How far rollouts and the newest set of roots are.

import type { JSX } from 'preact'
import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'
import { hrefOf } from '../../frame/router.ts'
import { describeTime, formatCount } from '../../parts/time.tsx'
import { StackedBar } from '../../pictures/stacked-bar.tsx'
import { words } from '../../words/words.ts'
import { nameOfKind } from './attention-card.tsx'

export function RolloutsCard({ summary }: { readonly summary: AdminFleetSummary }): JSX.Element {
  const { overview } = words()
  const { rollouts, freeze, raizes: roots } = summary
  return (
    <section class="card" aria-labelledby="rollouts">
      <header>
        <h2 id="rollouts">{overview.rollouts}</h2>
        <span class="grow" />
        <a class="link" href={hrefOf('/rollouts')}>
          {overview.all}
        </a>
      </header>
      {freeze !== null && (
        <p class="roll c-due">{overview.frozenUntil(describeTime(freeze.until), freeze.why)}</p>
      )}
      {rollouts.length === 0 && <p class="roll muted">{overview.noRollout}</p>}
      {rollouts.map(({ id, nome, kind, wave, waves, hosts }) => (
        <div class="roll" key={id}>
          <div class="row">
            <a class="link grow" href={hrefOf(`/rollouts/${id}`)}>
              {nome ?? nameOfKind(kind)}
            </a>
            <span class="muted">{overview.wavesOf(wave, waves)}</span>
          </div>
          {hosts !== null && (
            <StackedBar
              total={hosts.total}
              parts={[
                { label: overview.done, count: hosts.done, colour: '--ok-fill' },
                { label: overview.underWay, count: hosts.pending, colour: '--info-fill' },
                { label: overview.failed, count: hosts.failed, colour: '--bad-fill' },
              ]}
            />
          )}
        </div>
      ))}
      {roots !== null && (
        <div class="roll">
          <div class="row">
            <a class="link grow" href={hrefOf('/roots')}>
              {overview.roots} <span class="muted">{overview.rootsSet(roots.numero)}</span>
            </a>
            {roots.agentes > 0 && (
              <span>
                {overview.ofHosts(formatCount(roots.adopted), formatCount(roots.agentes))}
              </span>
            )}
          </div>
          {roots.agentes > 0 && (
            <StackedBar
              total={roots.agentes}
              withLegend={false}
              parts={[{ label: overview.done, count: roots.adopted, colour: '--ok-fill' }]}
            />
          )}
        </div>
      )}
    </section>
  )
}
