// What the hub knows of the host, each with what to compare it with.

import type { ComponentChildren, JSX } from 'preact'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { describeTime, Relative, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import type { Host } from './explain-host.ts'
import { LabelsDialog } from './labels-dialog.tsx'

export function FactsCard({ host }: { readonly host: Host }): JSX.Element {
  const { host: text } = words()
  const { roots } = host
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">{text.facts}</h2>
      </header>
      <dl class="facts">
        <Fact label={text.role}>{host.role}</Fact>
        <Fact label={text.policies}>
          <a class="link" href={hrefOf(`/policies/${encodeURIComponent(host.role)}`)}>
            {host.politicas.length === 0 ? text.none : host.politicas.join(', ')}
          </a>
        </Fact>
        <Fact label={text.labels}>
          {host.labels.length === 0 ? text.none : host.labels.join(', ')}{' '}
          <IfAllowed name="labelAgents">
            <button type="button" class="button small" onClick={() => setQuery({ labels: '1' })}>
              {text.changeLabels}
            </button>
            {here.value.query['labels'] !== undefined && (
              <LabelsDialog host={host} onClose={() => setQuery({ labels: undefined })} />
            )}
          </IfAllowed>
        </Fact>
        <Fact label={text.lastPoll}>
          {host.last_poll_at === null ? text.never : <Relative at={host.last_poll_at} />}
        </Fact>
        <Fact label={text.connection}>
          {host.online_since === null
            ? text.notConnected
            : text.connectedSince(describeTime(host.online_since))}
        </Fact>
        <Fact label={text.certificate}>
          {host.cert_serial === null ? (
            text.none
          ) : (
            <>
              <code>{shortenSerial(host.cert_serial)}</code> <CopyButton text={host.cert_serial} />
              {host.cert_not_after !== null && (
                <div>{text.ends(describeTime(host.cert_not_after))}</div>
              )}
            </>
          )}
        </Fact>
        <Fact label={text.agent}>
          {host.agent_version ?? '–'} {host.platform ?? ''}
        </Fact>
        <Fact label={text.recipient}>
          {host.recipient_fingerprint === null ? (
            text.none
          ) : (
            <>
              <code>{host.recipient_fingerprint}</code>
              <CopyButton text={host.recipient_fingerprint} />
              <div class="muted">{text.compare}</div>
            </>
          )}
        </Fact>
        <Fact label={text.trustRoots}>
          {roots === null ? (
            text.none
          ) : (
            <>
              {text.rootsSet(String(roots.numero ?? '?'), describeTime(roots.since))}
              {roots.is_pinned && <div class="c-due">{text.pinned}</div>}
              {roots.erro !== null && <div class="c-bad">{roots.erro}</div>}
            </>
          )}
        </Fact>
        <Fact label={text.addresses}>
          {host.addresses.length === 0 ? '–' : host.addresses.join(', ')}
        </Fact>
        <Fact label={text.enrolled}>
          <Time at={host.created_at} />
        </Fact>
        <Fact label={text.id}>
          <code>{host.id}</code> <CopyButton text={host.id} />
        </Fact>
      </dl>
    </section>
  )
}

function Fact({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

function shortenSerial(serial: string): string {
  return serial.length <= 16 ? serial : `${serial.slice(0, 8)} … ${serial.slice(-4)}`
}
