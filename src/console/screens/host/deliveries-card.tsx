// What is delivered to the host.

import type { JSX } from 'preact'
import { hrefOf } from '../../frame/router.ts'
import { DeliveryStatus } from '../../parts/delivery-status.tsx'
import { Relative, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { type Host, orderDeliveries } from './explain-host.ts'

const SHOWN_MAX = 50

export function DeliveriesCard({ host }: { readonly host: Host }): JSX.Element {
  const { host: text } = words()
  return (
    <section class="card" aria-labelledby="deliveries">
      <header>
        <h2 id="deliveries">{text.deliveries}</h2>
        <span class="wire">entrega</span>
        <span class="grow" />
        {host.entregas.length > SHOWN_MAX && (
          <a class="link" href={hrefOf('/deliveries', { agente: host.id })}>
            {text.whole}
          </a>
        )}
      </header>
      {host.entregas.length === 0 && <p class="body muted">{text.noDeliveries}</p>}
      {host.entregas.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{text.cargo}</th>
              <th scope="col">{text.status}</th>
              <th scope="col" class="wide">
                {text.endsHeading}
              </th>
              <th scope="col">{text.since}</th>
            </tr>
          </thead>
          <tbody>
            {orderDeliveries(host.entregas)
              .slice(0, SHOWN_MAX)
              .map((delivery) => {
                const certificate = host.certificados.find(
                  ({ entrega_id: of }) => of === delivery.id,
                )
                return (
                  <tr key={delivery.id}>
                    <td>
                      <a class="link" href={hrefOf(`/cargo/${delivery.carga_id}`)}>
                        {delivery.nome}
                      </a>{' '}
                      <span class="muted">v{delivery.versao}</span>
                      <div class="faint">{text.tipos[delivery.tipo] ?? delivery.tipo}</div>
                    </td>
                    <td>
                      <DeliveryStatus delivery={delivery} />
                      <div class="muted reason">
                        {delivery.waiting_reason ?? delivery.erro ?? ''}
                      </div>
                    </td>
                    <td class="wide">
                      {certificate === undefined ? '–' : <Relative at={certificate.not_after} />}
                    </td>
                    <td>
                      <Time at={delivery.updated_at} />
                    </td>
                  </tr>
                )
              })}
          </tbody>
        </table>
      )}
    </section>
  )
}
