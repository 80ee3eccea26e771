// The verdict of a host, the acts that led there with their numbers, and what helps.

import type { JSX } from 'preact'
import { describeEntry } from '../../../explain/describe-entry.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { hrefOf } from '../../frame/router.ts'
import { Failure } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { describeRelative, describeTime, Time } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useEntryLanguage } from '../../words/entry-language.ts'
import { words } from '../../words/words.ts'
import {
  type Help,
  type Host,
  type HostVerdict,
  isNameForbidden,
  listHelp,
} from './explain-host.ts'

type Entry = AdminReplies['listEntries']['eventos'][number]

export function WhyCard({
  host,
  verdict,
  steps,
}: {
  readonly host: Host
  readonly verdict: HostVerdict
  readonly steps: readonly Entry[]
}): JSX.Element {
  const { host: text } = words()
  const help = listHelp(verdict, host)
  const entryLanguage = useEntryLanguage()
  return (
    <section class="card why" aria-labelledby="why">
      <div class="say">
        <h3 id="why">{sayVerdict(verdict, host)}</h3>
        <p class="muted">{sayMore(verdict, host)}</p>
        {steps.length > 0 && entryLanguage !== undefined && (
          <ol class="steps">
            {steps.map((entry, at) => {
              const { sentence, severity } = describeEntry(
                {
                  seq: entry.seq,
                  type: entry.tipo_evento,
                  payload: entry.payload,
                  agentId: entry.agente_id,
                  hostname: entry.agente_id === null ? null : host.hostname,
                },
                entryLanguage,
              )
              return (
                <li key={entry.seq}>
                  <Time at={entry.timestamp} />
                  <span class={severity === 'urgent' ? 'dot bad' : 'dot acc'} />
                  <div>
                    <b>{at + 1}</b>&ensp;
                    <a href={hrefOf(`/audit/${entry.seq}`)}>{sentence}</a>
                  </div>
                </li>
              )
            })}
          </ol>
        )}
      </div>
      <div class="do">
        <h3>{text.helps}</h3>
        {help.length === 0 && <p>{text.nothingToDo}</p>}
        {help.map((one) => (
          <HelpLine key={JSON.stringify(one)} help={one} />
        ))}
      </div>
    </section>
  )
}

function HelpLine({ help }: { readonly help: Help }): JSX.Element {
  const { host: text } = words()
  switch (help.kind) {
    case 'policy':
      return (
        <a class="button primary" href={hrefOf(`/policies/${encodeURIComponent(help.role)}`)}>
          <Icon name="scale" small />
          {text.changePolicy(help.role)}
          <Icon name="arrow-right" small />
        </a>
      )
    case 'cargo':
      return (
        <a class="button" href={hrefOf(`/cargo/${help.id}`)}>
          <Icon name="package" small />
          {text.openCargo(help.nome)}
          <Icon name="arrow-right" small />
        </a>
      )
    case 'retry':
      return (
        <IfAllowed name="retryDeliveries">
          <Retry deliveryId={help.deliveryId} failsAgain={help.failsAgain} />
        </IfAllowed>
      )
    case 'command':
      return (
        <div>
          <p>{help.where === 'host' ? text.onHost : text.onHub}</p>
          <Command text={help.command} />
        </div>
      )
  }
}

function Retry({
  deliveryId,
  failsAgain,
}: {
  readonly deliveryId: string
  readonly failsAgain: boolean
}): JSX.Element {
  const { host: text } = words()
  const act = useAct('retryDeliveries')
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={act.isBusy}
        onClick={() => void act.run({ entrega: deliveryId })}
      >
        <Icon name="refresh" small />
        {text.retry}
      </button>
      {act.error !== undefined && <Failure error={act.error} />}
      {failsAgain && <p>{text.retryFails}</p>}
    </>
  )
}

function sayVerdict(verdict: HostVerdict, { hostname }: Host): string {
  const { host: text } = words()
  switch (verdict.kind) {
    case 'revoked':
      return text.revoked(hostname, describeTime(verdict.at))
    case 'expired':
      return text.expired(hostname, describeRelative(verdict.at))
    case 'duplicated':
      return text.duplicated(hostname, verdict.addresses.join(', '))
    case 'failed':
      return text.failed(hostname, nameOf(verdict.delivery))
    case 'refused':
      return text.refused(hostname, nameOf(verdict.delivery), verdict.code)
    case 'unheard':
      return text.unheard(hostname)
    case 'late':
      return verdict.isConnected ? text.lateConnected(hostname) : text.lateSilent(hostname)
    case 'well':
      return text.well(hostname)
  }
}

function sayMore(verdict: HostVerdict, { role }: Host): string {
  const { host: text } = words()
  switch (verdict.kind) {
    case 'failed':
      return isNameForbidden(verdict.reason)
        ? text.nameForbidden(verdict.reason, role)
        : verdict.reason
    case 'refused':
      return verdict.reason
    case 'unheard':
      return verdict.endsAt === null ? '' : text.unheardText(describeRelative(verdict.endsAt))
    case 'late':
      return text.lateText(describeTime(verdict.since))
    case 'expired':
      return text.expiredText
    case 'duplicated':
      return text.duplicatedText
    case 'revoked':
      return ''
    case 'well':
      return verdict.renewalAt === undefined
        ? ''
        : text.wellText(describeRelative(verdict.renewalAt))
  }
}

function nameOf({ nome, versao }: { readonly nome: string; readonly versao: number }): string {
  return `${nome} v${versao}`
}
