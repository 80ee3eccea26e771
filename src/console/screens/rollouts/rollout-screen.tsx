// One rollout: what it waits for or why it is frozen, its waves, and the hosts that failed.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer } from '../../parts/answer.tsx'
import { DeliveryStatus } from '../../parts/delivery-status.tsx'
import { describeDuration } from '../../parts/durations.ts'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { Relative, Time } from '../../parts/time.tsx'
import { StackedBar } from '../../pictures/stacked-bar.tsx'
import { words } from '../../words/words.ts'
import type { ScreenProperties } from '../routes.tsx'
import {
  listRolloutActs,
  listWaves,
  type RolloutAct,
  type WaveShown,
} from './decide-rollout-acts.ts'
import { nameOfRollout, RolloutState } from './rollout-state.tsx'

type Rollout = AdminReplies['showRollout']

export function RolloutScreen({ id = '' }: ScreenProperties): JSX.Element {
  const { rollouts } = words()
  const shown = useQuery('showRollout', { rollout: id })
  const { data } = shown.value
  return (
    <Screen
      title={data === undefined ? id : nameOfRollout(data)}
      wire="rollout"
      above={[rollouts.title, hrefOf('/rollouts')]}
      commands={svc.aboutRollout(id)}
    >
      <Answer shown={shown.value}>{(rollout) => <RolloutPage rollout={rollout} />}</Answer>
    </Screen>
  )
}

function RolloutPage({ rollout }: { readonly rollout: Rollout }): JSX.Element {
  const { rollouts } = words()
  const { state, reason, waits_for: waitsFor, hosts } = rollout
  return (
    <>
      <div class="hosthead">
        <h2>{nameOfRollout(rollout)}</h2>
        <code>{rollout.kind}</code>
        {rollout.versao !== null && <span class="faint">v{rollout.versao}</span>}
        {rollout.programa !== null && <span class="faint">{rollout.programa}</span>}
        <RolloutState state={state} />
        <span class="grow" />
        <Acts rollout={rollout} />
      </div>
      <section class="card" aria-labelledby="verdict">
        <header>
          <h2 id="verdict">{state === 'frozen' ? rollouts.isFrozen : rollouts.waitsFor}</h2>
        </header>
        <div class="body form">
          <p class={state === 'frozen' ? 'c-late' : undefined}>
            <b>{state === 'frozen' ? (reason ?? waitsFor) : waitsFor}</b>
          </p>
          {state === 'running' && <p class="muted">{rollouts.allowed(hosts.failures_allowed)}</p>}
        </div>
      </section>
      <section class="card" aria-labelledby="waves">
        <header>
          <h2 id="waves">{rollouts.waves}</h2>
        </header>
        {listWaves(rollout).map((wave) => (
          <Wave key={wave.wave} wave={wave} />
        ))}
      </section>
      <div class="two">
        <FailuresCard rollout={rollout} />
        <FactsCard rollout={rollout} />
      </div>
    </>
  )
}

function Wave({
  wave: { wave, size, state, done, underWay, failed },
}: {
  readonly wave: WaveShown
}): JSX.Element {
  const { rollouts } = words()
  return (
    <div class="roll">
      <div class="row">
        <b class="grow">{rollouts.waveLabel(wave, size)}</b>
        {state === 'to come' && <span class="muted">{rollouts.toCome}</span>}
        {state === 'open' && <span class="c-info">{rollouts.open}</span>}
      </div>
      {state !== 'to come' && (
        <StackedBar
          total={done + underWay + failed}
          parts={[
            { label: rollouts.done, count: done, colour: '--ok-fill' },
            { label: rollouts.underWay, count: underWay, colour: '--info-fill' },
            { label: rollouts.failed, count: failed, colour: '--bad-fill' },
          ]}
        />
      )}
    </div>
  )
}

function Acts({ rollout }: { readonly rollout: Rollout }): JSX.Element {
  const { rollouts } = words()
  const [acting, setActing] = useState<RolloutAct | undefined>(undefined)
  return (
    <span class="row acts">
      {listRolloutActs(rollout).map((act) => (
        <IfAllowed key={act} name={act}>
          <button
            type="button"
            class={act === 'undoRollout' ? 'button danger' : 'button'}
            onClick={() => setActing(act)}
          >
            {rollouts.acts[act]}
          </button>
        </IfAllowed>
      ))}
      {acting !== undefined && (
        <ActDialog
          key={acting}
          title={rollouts.actTitles[acting](nameOfRollout(rollout))}
          name={acting}
          request={{ rollout: rollout.id }}
          label={rollouts.actButtons[acting]}
          isDangerous={acting === 'undoRollout'}
          onClose={() => setActing(undefined)}
        >
          <p>{rollouts.actTexts[acting]}</p>
        </ActDialog>
      )}
    </span>
  )
}

function FailuresCard({ rollout: { failures } }: { readonly rollout: Rollout }): JSX.Element {
  const { rollouts } = words()
  return (
    <section class="card" aria-labelledby="failures">
      <header>
        <h2 id="failures">{rollouts.failures}</h2>
        {failures.length > 0 && <span class="faint">{rollouts.firstOnes}</span>}
      </header>
      {failures.length === 0 && <p class="body muted">{rollouts.noFailures}</p>}
      <ul class="list rollout-failures">
        {failures.map(({ hostname, entrega_id: delivery, status, erro }) => (
          <li key={`${hostname} ${delivery ?? ''}`}>
            <div>
              <b>{hostname}</b>
              {erro !== null && <p>{erro}</p>}
            </div>
            <DeliveryStatus delivery={{ status, reverted_at: null, waiting_reason: null }} />
            <a class="button small" href={hrefOf(`/hosts/${encodeURIComponent(hostname)}`)}>
              {rollouts.seeWhy}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function FactsCard({ rollout }: { readonly rollout: Rollout }): JSX.Element {
  const { rollouts, times } = words()
  const { carga_id: cargo, soak_seconds: soak, late_seconds: late } = rollout
  const { created_at: created, ended_at: ended, changed_by: changedBy } = rollout
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">{rollouts.facts}</h2>
      </header>
      <dl class="facts">
        {rollout.sans.length > 0 && (
          <>
            <dt>{rollouts.names}</dt>
            <dd>{rollout.sans.join(', ')}</dd>
          </>
        )}
        {rollout.where !== null && (
          <>
            <dt>{rollouts.where}</dt>
            <dd>
              <code>{rollout.where}</code>
            </dd>
          </>
        )}
        <dt>{rollouts.soak}</dt>
        <dd>{describeDuration(soak * 1000, times)}</dd>
        <dt>{rollouts.lateAfter}</dt>
        <dd>{describeDuration(late * 1000, times)}</dd>
        <dt>{rollouts.maxFailed}</dt>
        <dd>{rollout.max_failed}</dd>
        <dt>{rollouts.by}</dt>
        <dd>
          {rollout.started_by}, <Relative at={created} />
        </dd>
        {changedBy !== null && (
          <>
            <dt>{rollouts.changedBy}</dt>
            <dd>{changedBy}</dd>
          </>
        )}
        {ended !== null && (
          <>
            <dt>{rollouts.ended}</dt>
            <dd>
              <Time at={ended} />
            </dd>
          </>
        )}
        <dt>{rollouts.id}</dt>
        <dd>
          <code>{rollout.id}</code>
        </dd>
      </dl>
      {cargo !== null && (
        <p class="body">
          <a class="link" href={hrefOf(`/cargo/${cargo}`)}>
            {rollouts.openCargo}
          </a>
        </p>
      )}
    </section>
  )
}
