// One delivery: what the host said of it, and what may be done. The URL says that it is open.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { hrefOf } from '../../frame/router.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer } from '../../parts/answer.tsx'
import { DeliveryStatus } from '../../parts/delivery-status.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { Relative, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { firstLine } from './group-failures.ts'
import { RetryDialog } from './retry-dialog.tsx'

type Delivery = AdminReplies['showDelivery']

const OVER = new Set(['cancelada', 'substituida'])

export function DeliveryDialog({
  id,
  onClose,
}: {
  readonly id: string
  readonly onClose: () => void
}): JSX.Element {
  const { deliveries } = words()
  const shown = useQuery('showDelivery', { entrega: id })
  const [acting, setActing] = useState<'retry' | 'cancel' | undefined>(undefined)
  const { data } = shown.value
  const name = data === undefined ? id : `${data.hostname}/${data.nome}`
  return (
    <>
      <Dialog title={name} onClose={onClose} isWide>
        <Answer shown={shown.value}>{(delivery) => <Facts delivery={delivery} />}</Answer>
        <div class="dialog-actions">
          {data !== undefined && !OVER.has(data.status) && (
            <>
              {data.status === 'falhou' && (
                <IfAllowed name="retryDeliveries">
                  <button type="button" class="button" onClick={() => setActing('retry')}>
                    <Icon name="refresh" small />
                    {deliveries.retryOne}
                  </button>
                </IfAllowed>
              )}
              <IfAllowed name="cancelDelivery">
                <button type="button" class="button danger" onClick={() => setActing('cancel')}>
                  {deliveries.cancel}
                </button>
              </IfAllowed>
            </>
          )}
          <button type="button" class="button" onClick={onClose}>
            {deliveries.close}
          </button>
        </div>
      </Dialog>
      {acting === 'retry' && data !== undefined && (
        <RetryDialog
          title={deliveries.retryOneTitle(name)}
          request={{ entrega: data.id }}
          reasons={[firstLine(data.erro ?? '')]}
          nome={data.nome}
          onClose={() => setActing(undefined)}
        />
      )}
      {acting === 'cancel' && data !== undefined && (
        <ActDialog
          title={deliveries.cancelTitle(name)}
          name="cancelDelivery"
          request={{ entrega: data.id }}
          label={deliveries.cancelButton}
          isDangerous
          onClose={() => setActing(undefined)}
        >
          <p>{deliveries.cancelText(data.hostname)}</p>
        </ActDialog>
      )}
    </>
  )
}

function Facts({ delivery }: { readonly delivery: Delivery }): JSX.Element {
  const { deliveries } = words()
  const { erro, waiting_reason: waiting, waiting_reason_at: waitingAt } = delivery
  const replacedBy = delivery.substituida_por
  return (
    <div class="body">
      <dl class="facts">
        <dt>{deliveries.status}</dt>
        <dd>
          <DeliveryStatus delivery={delivery} /> <Relative at={delivery.updated_at} />
        </dd>
        <dt>{deliveries.host}</dt>
        <dd>
          <a class="link" href={hrefOf(`/hosts/${delivery.agente_id}`)}>
            {delivery.hostname}
          </a>
        </dd>
        <dt>{deliveries.cargo}</dt>
        <dd>
          <a class="link" href={hrefOf(`/cargo/${delivery.carga_id}`)}>
            {delivery.nome}
          </a>{' '}
          <code>{delivery.tipo}</code>
        </dd>
        <dt>{deliveries.version}</dt>
        <dd>{delivery.versao}</dd>
        {delivery.sans.length > 0 && (
          <>
            <dt>{deliveries.names}</dt>
            <dd>{delivery.sans.join(', ')}</dd>
          </>
        )}
        <dt>{deliveries.id}</dt>
        <dd>
          <code>{delivery.id}</code>
        </dd>
        {replacedBy !== null && (
          <>
            <dt>{deliveries.replacedBy}</dt>
            <dd>
              <a class="link" href={hrefOf('/deliveries', { open: replacedBy })}>
                {replacedBy}
              </a>
            </dd>
          </>
        )}
      </dl>
      {waiting !== null && (
        <>
          <h3>{deliveries.waiting}</h3>
          <p class="reason">
            {waiting} {waitingAt !== null && <Time at={waitingAt} />}
          </p>
        </>
      )}
      {erro !== null && erro !== '' && (
        <>
          <h3>{deliveries.printed}</h3>
          <pre class="pre printed" tabIndex={0}>
            {erro}
          </pre>
        </>
      )}
      {delivery.alvos_revertidos.length > 0 && (
        <>
          <h3>{deliveries.reverted}</h3>
          <ul class="plain">
            {delivery.alvos_revertidos.map(({ alvo, reverted_at: at, erro: why }) => (
              <li key={`${alvo ?? ''} ${at}`}>
                <code>{alvo ?? '–'}</code> <Time at={at} /> {firstLine(why)}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
