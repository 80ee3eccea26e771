// One host: why it is as it is, what happened, and what helps.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { now } from '../../api/clock.ts'
import { useQuery } from '../../api/query.ts'
import { isAllowed } from '../../api/session.ts'
import { useVaultEntries } from '../../api/use-vault-entries.ts'
import { svc } from '../../commands/svc.ts'
import { goTo, here, hrefOf, setQuery } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer, Failure } from '../../parts/answer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { describeDuration } from '../../parts/durations.ts'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { isNarrow } from '../../parts/is-narrow.ts'
import { announce } from '../../parts/live-region.tsx'
import { Pill } from '../../parts/pill.tsx'
import { describeTime } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { LanesPicture } from '../../pictures/lanes.tsx'
import { words } from '../../words/words.ts'
import type { ScreenProperties } from '../routes.tsx'
import { HostState } from '../hosts/host-state.tsx'
import { DeliveriesCard } from './deliveries-card.tsx'
import { describeLanes, describeMarks } from './describe-lanes.ts'
import { explainHost, type Host, listSteps } from './explain-host.ts'
import { FactsCard } from './facts-card.tsx'
import { HostLogCard } from './host-log-card.tsx'
import { PAST_HOURS, type PastSpan } from './lane-scale.ts'
import { RefusalsCard } from './refusals-card.tsx'
import { WhyCard } from './why-card.tsx'

const ENTRIES = 60
const POLICY_ENTRIES = { tipos: ['politica_set', 'politica_removed'], last: 10 }
const SPANS = Object.keys(PAST_HOURS) as PastSpan[]

export function HostScreen({ id = '' }: ScreenProperties): JSX.Element {
  const { frame } = words()
  const shown = useQuery('showAgent', { agente: id, details: true }, { goesWithTime: true })
  const hostname = shown.value.data?.hostname
  return (
    <Screen
      title={hostname ?? id}
      wire="agente"
      above={[frame.hosts, hrefOf('/hosts')]}
      commands={hostname === undefined ? [] : commandsOf(hostname)}
    >
      <Answer shown={shown.value}>{(host) => <HostPage host={host as Host} />}</Answer>
    </Screen>
  )
}

/** Never of what the URL has: a link that somebody sends is no host. */
function commandsOf(hostname: string): string[] {
  const show = svc.showHost(hostname)
  const list = svc.listEntriesAbout(hostname)
  return isAllowed('listEntries') ? [show, list] : [show]
}

function HostPage({ host }: { readonly host: Host }): JSX.Element {
  const { host: text, times } = words()
  const about = useVaultEntries({ about: host.id, last: ENTRIES })
  const policies = useVaultEntries(POLICY_ENTRIES)
  const entries = about.value.data?.eventos ?? []
  const verdict = explainHost(host, now.value)
  const steps = listSteps([...entries, ...(policies.value.data?.eventos ?? [])], verdict, host)
  const span = SPANS.find((one) => one === here.value.query['span']) ?? '6h'
  return (
    <>
      <div class="hosthead">
        <h2>{host.hostname}</h2>
        <HostState host={host} />
        {verdict.kind === 'failed' && <Pill tone="bad" icon="x" text={text.deliveryFailed} />}
        {verdict.kind === 'refused' && <Pill tone="late" icon="alarm" text={text.deliveryWaits} />}
        {host.online_since === null ? (
          <Pill tone="off" icon="plug" text={text.notConnected} />
        ) : (
          <Pill tone="ok" icon="plug" text={text.connected} />
        )}
        <span class="grow" />
        {host.revoked_at === null ? <Acts host={host} /> : <Remove host={host} />}
      </div>
      <WhyCard {...{ host, verdict, steps }} />
      <section class="card" aria-labelledby="lanes">
        <header>
          <h2 id="lanes">{text.lanes}</h2>
          <span class="grow" />
          <div class="legend">
            <span>
              <i style={{ background: 'var(--fresh)' }} />
              {text.inForce}
            </span>
            <span>
              <i style={{ background: 'var(--due-fill)' }} />
              {text.toRenew}
            </span>
          </div>
          <span class="segments" role="group" aria-label={text.span}>
            {SPANS.map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === span}
                onClick={() =>
                  setQuery({ span: one === '6h' ? undefined : one }, { isReplacing: true })
                }
              >
                {text.spans[one]}
              </button>
            ))}
          </span>
        </header>
        <div class="body">
          <LanesPicture
            lanes={describeLanes(host, now.value, {
              ...text,
              ends: (at) => text.ends(describeTime(at)),
              onHostSince: (at) => text.onHostSince(describeTime(at)),
              life: (ms) => describeDuration(ms, times),
            })}
            marks={describeMarks(steps)}
            nowMs={now.value}
            span={span}
            isNarrow={isNarrow()}
            title={text.lanesTitle(host.hostname)}
          />
        </div>
      </section>
      <div class="two">
        <div class="column">
          <DeliveriesCard host={host} />
          <RefusalsCard host={host} />
          <IfAllowed name="listEntries">
            <HostLogCard host={host} shown={about.value} />
          </IfAllowed>
        </div>
        <FactsCard host={host} />
      </div>
    </>
  )
}

function Acts({ host }: { readonly host: Host }): JSX.Element {
  const { host: text } = words()
  const push = useAct('pushToAgent')
  const [isRevoking, setRevoking] = useState(false)
  const tell = async (acao: 'sync' | 'rotate', done: string): Promise<void> => {
    const reply = await push.run({ agente: host.id, acao }, { done })
    if (reply?.online === false) announce(text.offline)
  }
  return (
    <span class="row acts">
      {push.error !== undefined && <Failure error={push.error} />}
      <IfAllowed name="pushToAgent">
        <button
          type="button"
          class="button"
          disabled={push.isBusy}
          onClick={() => void tell('sync', text.synced)}
        >
          <Icon name="refresh" small />
          {text.sync}
        </button>
        <button
          type="button"
          class="button"
          disabled={push.isBusy}
          onClick={() => void tell('rotate', text.renewed)}
        >
          <Icon name="rotate" small />
          {text.renew}
        </button>
      </IfAllowed>
      <IfAllowed name="revokeAgent">
        <button type="button" class="button danger" onClick={() => setRevoking(true)}>
          <Icon name="octagon-x" small />
          {text.revoke}
        </button>
      </IfAllowed>
      {isRevoking && (
        <ActDialog
          title={text.revokeTitle(host.hostname)}
          name="revokeAgent"
          request={{ agente: host.id }}
          label={text.revokeButton}
          isDangerous
          typed={host.hostname}
          onClose={() => setRevoking(false)}
        >
          <p>
            {text.revokeText(
              host.certificados.length,
              host.entregas.length,
              host.online_since !== null,
            )}
          </p>
        </ActDialog>
      )}
    </span>
  )
}

/** Of a revoked host. */
function Remove({ host: { id, hostname } }: { readonly host: Host }): JSX.Element {
  const { host: text } = words()
  const [isRemoving, setRemoving] = useState(false)
  return (
    <IfAllowed name="removeAgent">
      <button type="button" class="button danger" onClick={() => setRemoving(true)}>
        {text.remove}
      </button>
      {isRemoving && (
        <ActDialog
          title={text.removeTitle(hostname)}
          name="removeAgent"
          request={{ agente: id }}
          label={text.removeButton}
          isDangerous
          onClose={() => setRemoving(false)}
          onDone={() => goTo(hrefOf('/hosts'))}
        >
          <p>{text.removeText}</p>
        </ActDialog>
      )}
    </IfAllowed>
  )
}
