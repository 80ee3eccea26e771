// The certificates that hosts live on, the first to end first.

import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies, AdminRequest } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { Hostname } from '../../parts/hostname.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Pill, type Tone } from '../../parts/pill.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

type Certificate = AdminReplies['listCertificates']['certificados'][number]
type State = NonNullable<AdminRequest<'listCertificates'>['state']>

const STATES = ['fresh', 'renewing', 'late', 'expired'] as const satisfies readonly State[]
const LOOKS: Readonly<Record<State, readonly [Tone, IconName]>> = {
  fresh: ['ok', 'check'],
  renewing: ['due', 'refresh'],
  late: ['late', 'alarm'],
  expired: ['bad', 'clock-alert'],
}

export function CertificatesScreen(): JSX.Element {
  const { certificates: text, frame } = words()
  const { id, state: wanted, agente, ends_before: endsBefore } = here.value.query
  const state = STATES.find((one) => one === wanted)
  const filters = {
    ...(state !== undefined && { state }),
    ...(agente !== undefined && { agente }),
    ...(endsBefore !== undefined && { ends_before: endsBefore }),
  }
  const isFiltered = Object.keys(filters).length > 0
  const pages = usePages(`listCertificates ${JSON.stringify(filters)}`, async (after) => {
    const { certificados, next, total } = await ask('listCertificates', {
      ...filters,
      limit: PAGE_ROWS,
      ...(after !== undefined && { after }),
    })
    return { rows: certificados, next, total }
  })
  return (
    <Screen title={text.title} commands={[svc.listCertificates(filters)]}>
      <ListCard
        title={text.title}
        pages={pages}
        empty={isFiltered ? frame.noMatch : text.none}
        emptyCommand={isFiltered ? undefined : svc.createToken}
        hrefOf={({ agente_id: of }) => hrefOf(`/hosts/${of}`)}
        columns={[
          {
            name: 'host',
            label: text.host,
            share: 30,
            narrowShare: 44,
            cell: (certificate: Certificate) => (
              <>
                <Hostname name={certificate.hostname} />{' '}
                {certificate.id === id && <Pill tone="info" icon="search" text={text.asked} />}
              </>
            ),
          },
          {
            name: 'purpose',
            label: text.what,
            share: 18,
            isWideOnly: true,
            cell: ({ nome }) => nome ?? text.identity,
          },
          {
            name: 'state',
            label: text.state,
            share: 16,
            narrowShare: 28,
            cell: ({ state: one }) => (
              <Pill tone={LOOKS[one][0]} icon={LOOKS[one][1]} text={text.states[one]} />
            ),
          },
          {
            name: 'ends',
            label: text.ends,
            share: 14,
            narrowShare: 28,
            cell: ({ not_after: at, nome }) => (
              <>
                <Relative at={at} />
                <div class="narrow faint">{nome ?? text.identity}</div>
              </>
            ),
          },
          {
            name: 'serial',
            label: text.serial,
            share: 22,
            isWideOnly: true,
            cell: ({ serial }) => (
              <>
                <code>{serial.length <= 16 ? serial : `${serial.slice(0, 16)}…`}</code>{' '}
                <CopyButton text={serial} />
              </>
            ),
          },
        ]}
      >
        <>
          <FilterField label={text.byHost} name="agente" />
          <label class="field">
            <span class="visually-hidden">{text.state}</span>
            <select
              value={state ?? ''}
              onChange={({ currentTarget }) => setQuery({ state: currentTarget.value })}
            >
              <option value="">{text.anyState}</option>
              {STATES.map((one) => (
                <option key={one} value={one}>
                  {text.states[one]}
                </option>
              ))}
            </select>
          </label>
          {endsBefore !== undefined && <span class="muted">{text.endsBefore(endsBefore)}</span>}
          {isFiltered && (
            <a class="button small quiet" href={hrefOf('/certificates')}>
              {frame.clear}
            </a>
          )}
        </>
      </ListCard>
    </Screen>
  )
}
