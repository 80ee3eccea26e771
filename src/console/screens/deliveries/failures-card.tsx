// What failed, one line for one reason, with what helps.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'
import { ask } from '../../api/client.ts'
import { hrefOf } from '../../frame/router.ts'
import { Failure } from '../../parts/answer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { words } from '../../words/words.ts'
import { type FailureGroup, firstLine, groupFailures } from './group-failures.ts'
import { RetryDialog } from './retry-dialog.tsx'

interface Retrying {
  readonly line: string
  readonly nome: string
}

export function FailuresCard({
  failures,
}: {
  readonly failures: AdminFleetSummary['failures']
}): JSX.Element | null {
  const { deliveries } = words()
  const [retrying, setRetrying] = useState<Retrying | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  const groups = groupFailures(failures)
  const retry = async (group: FailureGroup): Promise<void> => {
    setError(undefined)
    try {
      setRetrying({ line: await readLine(group), nome: group.example.nome })
    } catch (failed) {
      setError(failed as Error)
    }
  }
  if (groups.length === 0 && retrying === undefined) return null
  return (
    <section class="card" aria-labelledby="failures">
      <header>
        <h2 id="failures">{deliveries.groups}</h2>
        <span class="faint">{deliveries.groupsHint}</span>
      </header>
      <ul class="list groups">
        {groups.map((group) => (
          <GroupLine
            key={`${group.status} ${group.reason}`}
            group={group}
            onRetry={() => void retry(group)}
          />
        ))}
      </ul>
      {error !== undefined && <Failure error={error} />}
      {retrying !== undefined && (
        <RetryDialog
          title={deliveries.retryTitle}
          request={{ erro: retrying.line }}
          reasons={[retrying.line]}
          nome={retrying.nome}
          onClose={() => setRetrying(undefined)}
        />
      )}
    </section>
  )
}

/** The hub compares whole first lines: where the summary has cut one, the example says the rest. */
async function readLine({ isCut, reason, example }: FailureGroup): Promise<string> {
  if (!isCut) return reason
  const { erro } = await ask('showDelivery', { entrega: example.entrega_id })
  return firstLine(erro ?? '')
}

function GroupLine({
  group,
  onRetry,
}: {
  readonly group: FailureGroup
  readonly onRetry: () => void
}): JSX.Element {
  const { deliveries } = words()
  const { status, reason, count, example } = group
  const hasFailed = status === 'falhou'
  const title = hasFailed ? deliveries.failedLike : deliveries.waitLike
  return (
    <li>
      <span class={hasFailed ? 'badge bad' : 'badge due'}>
        <Icon name={hasFailed ? 'x' : 'alarm'} />
      </span>
      <div>
        <b>{title(count, example.nome)}</b>
        <p>
          {reason === '' ? deliveries.noReason : reason} · {deliveries.such(example.hostname)}
          {!hasFailed && ` · ${deliveries.asksAgain}`}
        </p>
      </div>
      <span class="row acts">
        <a class="button small" href={hrefOf(`/hosts/${example.agente_id}`)}>
          {deliveries.seeWhy}
        </a>
        {hasFailed && reason !== '' && (
          <IfAllowed name="retryDeliveries">
            <button type="button" class="button small" onClick={onRetry}>
              <Icon name="refresh" small />
              {deliveries.retryGroup}
            </button>
          </IfAllowed>
        )}
      </span>
    </li>
  )
}
