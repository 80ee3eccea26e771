// One webhook: how it is, what the hub gave up, and what helps.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { roleNeeded } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { isAtLeast } from '../../api/session.ts'
import { svc } from '../../commands/svc.ts'
import { goTo, hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer, Failure, Notice } from '../../parts/answer.tsx'
import { formatCount, Relative, Time } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import type { ScreenProperties } from '../routes.tsx'
import { DeadCard } from './dead-card.tsx'
import { formatOf } from './describe-webhook.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { WebhookState } from './webhook-state.tsx'

type Webhook = AdminReplies['showWebhook']

export function WebhookScreen({ id = '' }: ScreenProperties): JSX.Element {
  const { webhooks: text, frame } = words()
  const isAllowed = isAtLeast(roleNeeded('showWebhook'))
  const shown = useQuery('showWebhook', isAllowed ? { webhook: id } : undefined)
  return (
    <Screen
      title={shown.value.data === undefined ? text.one : new URL(shown.value.data.url).host}
      wire="webhook"
      above={[text.title, hrefOf('/webhooks')]}
      commands={svc.aboutWebhook(id)}
    >
      {isAllowed ? (
        <Answer shown={shown.value}>{(webhook) => <WebhookPage webhook={webhook} />}</Answer>
      ) : (
        <Notice title={frame.forbidden} hint={text.adminsOnly} />
      )}
    </Screen>
  )
}

function WebhookPage({ webhook }: { readonly webhook: Webhook }): JSX.Element {
  const { webhooks: text } = words()
  const test = useAct('testWebhook')
  const [result, setResult] = useState<AdminReplies['testWebhook'] | undefined>(undefined)
  const [step, setStep] = useState<'none' | 'replay' | 'remove'>('none')
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    [text.error, webhook.erro ?? '–'],
    [text.attempts, formatCount(webhook.attempts)],
    [text.backlog, formatCount(webhook.backlog)],
    [text.nextAttempt, timeOf(webhook.next_attempt_at)],
    [text.lastError, timeOf(webhook.last_error_at)],
    [text.lastSuccess, timeOf(webhook.last_success_at)],
    [text.doneUntil, formatCount(webhook.seq)],
    [text.format, text.formats[formatOf(webhook.url)]],
    [text.tipos, webhook.tipos.length === 0 ? text.allTipos : webhook.tipos.join(', ')],
    [text.where, webhook.where ?? text.allHosts],
  ]
  const runTest = async (): Promise<void> =>
    setResult(await test.run({ webhook: webhook.id }, { done: text.tested }))
  return (
    <>
      <section class="card" aria-labelledby="webhook">
        <header>
          <h2 id="webhook" class="breaks">
            {webhook.url}
          </h2>
          <WebhookState state={webhook.state} />
          <span class="grow" />
          <button
            type="button"
            class="button small"
            disabled={test.isBusy}
            onClick={() => void runTest()}
          >
            {text.test}
          </button>
          <button type="button" class="button small" onClick={() => setStep('replay')}>
            {text.replay}
          </button>
          <button type="button" class="button small danger" onClick={() => setStep('remove')}>
            {text.remove}
          </button>
        </header>
        {test.error !== undefined && <Failure error={test.error} />}
        {result !== undefined && (
          <p class={result.ok ? 'body c-ok' : 'body c-bad'} role="status">
            {result.ok
              ? text.testWell(Math.round(result.duration_ms))
              : text.testFailed(result.erro ?? String(result.status ?? '–'))}
          </p>
        )}
        <dl class="facts">
          {facts.map(([label, value]) => (
            <FactRow key={label} label={label} value={value} />
          ))}
        </dl>
      </section>
      <DeadCard webhook={webhook} />
      {step === 'replay' && <ReplayDialog webhook={webhook} onClose={() => setStep('none')} />}
      {step === 'remove' && (
        <ActDialog
          title={text.removeTitle}
          name="removeWebhook"
          request={{ webhook: webhook.id }}
          label={text.remove}
          isDangerous
          onClose={() => setStep('none')}
          onDone={() => goTo(hrefOf('/webhooks'))}
        >
          <p>{text.removeText(webhook.url)}</p>
        </ActDialog>
      )}
    </>
  )
}

function timeOf(at: string | null): JSX.Element | string {
  if (at === null) return '–'
  return (
    <>
      <Relative at={at} />{' '}
      <span class="faint">
        <Time at={at} withSeconds />
      </span>
    </>
  )
}

function FactRow({
  label,
  value,
}: {
  readonly label: string
  readonly value: JSX.Element | string
}): JSX.Element {
  return (
    <>
      <dt>{label}</dt>
      <dd class="breaks">{value}</dd>
    </>
  )
}
