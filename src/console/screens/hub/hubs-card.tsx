// The hubs that share the vault. Where there is only one, how there would be more.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { JSX } from 'preact'
import { HubError } from '../../api/hub-error.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { onForget } from '../../api/session.ts'
import { svc } from '../../commands/svc.ts'
import { Answer, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { Pill, type Tone } from '../../parts/pill.tsx'
import { formatCount, Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

type Hub = AdminReplies['listHubs']['hubs'][number]

const LOOKS: Readonly<Record<Hub['state'], readonly [Tone, IconName]>> = {
  running: ['ok', 'check'],
  silent: ['bad', 'x'],
  stopped: ['off', 'info'],
}
/** By so much certificates and tokens may begin or end too early. */
const CLOCK_MS_MAX = 5000

/** A vault does not become one of several hubs while its hub runs: it is asked once, however often somebody comes here. */
const isOnly = signal(false)
onForget(() => (isOnly.value = false))

export function HubsCard(): JSX.Element {
  const { hub: text } = words()
  // No bell rings when a hub falls silent.
  const shown = useQuery('listHubs', isOnly.value ? undefined : {}, { goesWithTime: true })
  const { error } = shown.value
  const isRefused = error instanceof HubError && error.code === 'vault_embedded'
  useEffect(() => {
    if (isRefused) isOnly.value = true
  }, [isRefused])
  return (
    <section class="card" aria-labelledby="hubs">
      <header>
        <h2 id="hubs">{text.hubs}</h2>
      </header>
      {isOnly.value || isRefused ? (
        <Notice title={text.oneHub} hint={text.oneHubHint}>
          <Command text={svc.showStandby} />
        </Notice>
      ) : (
        <Answer shown={shown.value}>{({ hubs }) => <Hubs hubs={hubs} />}</Answer>
      )}
    </section>
  )
}

function Hubs({ hubs }: { readonly hubs: readonly Hub[] }): JSX.Element {
  const { hub: text } = words()
  const gone = hubs.find(({ state, is_this: isThis }) => state !== 'running' && !isThis)
  // Two hubs of one machine have one name.
  const isNamed = gone !== undefined && hubs.filter(({ host }) => host === gone.host).length === 1
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.machine}</th>
            <th scope="col">{text.state}</th>
            <th scope="col">{text.behind}</th>
            <th scope="col" class="wide">
              {text.clock}
            </th>
            <th scope="col" class="wide">
              {text.leases}
            </th>
            <th scope="col" class="wide">
              {text.version}
            </th>
            <th scope="col">{text.heard}</th>
          </tr>
        </thead>
        <tbody>
          {hubs.map((one) => (
            <HubRow key={one.id} hub={one} />
          ))}
        </tbody>
      </table>
      {gone !== undefined && (
        <div class="body commands">
          <p>{text.gone}</p>
          <Command text={svc.removeHub((isNamed ? gone.host : null) ?? gone.id)} />
        </div>
      )}
    </>
  )
}

function HubRow({ hub }: { readonly hub: Hub }): JSX.Element {
  const { hub: text } = words()
  const [tone, icon] = LOOKS[hub.state]
  const aheadMs = hub.clock_ahead_ms
  const isOff = Math.abs(aheadMs) > CLOCK_MS_MAX
  return (
    <tr>
      <td>
        <b class="breaks">{hub.host ?? text.unknownMachine}</b>
        {hub.is_this && <span class="faint"> {text.thisOne}</span>}
      </td>
      <td>
        <Pill tone={tone} icon={icon} text={text.states[hub.state]} />
      </td>
      <td>{hub.behind === 0 ? text.notBehind : text.records(formatCount(hub.behind))}</td>
      <td class={isOff ? 'wide c-due' : 'wide'}>{text.seconds(formatSeconds(aheadMs))}</td>
      <td class="wide">
        {hub.leases.length === 0
          ? '–'
          : hub.leases.map((lease) => (
              <span key={lease}>
                <code>{lease}</code>{' '}
              </span>
            ))}
      </td>
      <td class="wide">{hub.version ?? '–'}</td>
      <td>
        <Relative at={hub.last_beat_at} />
      </td>
    </tr>
  )
}

function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 100) / 10
  const sign = seconds > 0 ? '+' : seconds < 0 ? '−' : ''
  return `${sign}${formatCount(Math.abs(seconds))}`
}
