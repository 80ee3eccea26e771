// The politicas: of roles, and those that narrow them for the hosts that a selector matches.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { svc } from '../../commands/svc.ts'
import { follow, hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { durationText } from '../../parts/duration-text.ts'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { words } from '../../words/words.ts'

type OfRole = AdminReplies['listPolicies']['politicas'][number]
type OfSelector = AdminReplies['listSelectorPolicies']['politicas'][number]
type Bounds = Pick<OfSelector, 'token_ttl_max' | 'cert_ttl' | 'sans_permitidos'>

export function PoliciesScreen(): JSX.Element {
  const { policies: text } = words()
  const ofRoles = usePages('listPolicies', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { politicas, next } = await ask('listPolicies', request)
    return { rows: politicas.map((one) => ({ ...one, id: one.role })), next }
  })
  const ofSelectors = usePages('listSelectorPolicies', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { politicas, next } = await ask('listSelectorPolicies', request)
    return { rows: politicas.map((one) => ({ ...one, id: one.nome })), next }
  })
  return (
    <Screen title={text.title} wire="politica" commands={[svc.listPolicies, svc.showSelectors]}>
      <p class="muted">{text.about}</p>
      <ListCard
        title={text.ofRoles}
        pages={ofRoles}
        empty={text.noneOfRoles}
        emptyCommand={svc.setRolePolicy}
        hrefOf={({ role }) => hrefOf(`/policies/${encodeURIComponent(role)}`)}
        columns={[
          {
            name: 'role',
            label: text.role,
            share: 22,
            cell: ({ role }: OfRole) => <b>{role === '*' ? text.everyOther : role}</b>,
          },
          ...boundColumns<OfRole & { readonly id: string }>(),
          {
            name: 'reenroll',
            label: text.fields.reenroll,
            share: 16,
            isWideOnly: true,
            cell: ({ reenroll }) => (reenroll ? text.reenroll.yes : text.reenroll.no),
          },
        ]}
        acts={
          <IfAllowed name="setPolicy">
            <Begin label={text.newOfRole} field={text.role} hrefOf={hrefOfRole} />
          </IfAllowed>
        }
      />
      <ListCard
        title={text.ofSelectors}
        pages={ofSelectors}
        empty={text.noneOfSelectors}
        emptyCommand={svc.setSelectorPolicy}
        hrefOf={({ nome }) => hrefOfSelector(nome)}
        columns={[
          {
            name: 'nome',
            label: text.fields.nome,
            share: 22,
            cell: ({ nome }: OfSelector) => <b>{nome}</b>,
          },
          ...boundColumns<OfSelector & { readonly id: string }>(),
          {
            name: 'where',
            label: text.fields.where,
            share: 16,
            isWideOnly: true,
            cell: ({ where }) => <code>{where}</code>,
          },
        ]}
        acts={
          <IfAllowed name="setSelectorPolicy">
            <Begin label={text.newOfSelector} field={text.fields.nome} hrefOf={hrefOfSelector} />
          </IfAllowed>
        }
      />
    </Screen>
  )
}

const hrefOfRole = (role: string): string => hrefOf(`/policies/${encodeURIComponent(role)}`)
const hrefOfSelector = (nome: string): string =>
  hrefOf(`/policies/where/${encodeURIComponent(nome)}`)

function boundColumns<Row extends Bounds>(): readonly Column<Row>[] {
  const { policies: text } = words()
  const duration = (seconds: number | null): string =>
    seconds === null ? '–' : durationText(seconds)
  return [
    {
      name: 'cert_ttl',
      label: text.fields.cert_ttl,
      share: 16,
      cell: ({ cert_ttl: seconds }) => duration(seconds),
    },
    {
      name: 'token_ttl_max',
      label: text.fields.token_ttl_max,
      share: 16,
      isWideOnly: true,
      cell: ({ token_ttl_max: seconds }) => duration(seconds),
    },
    {
      name: 'sans',
      label: text.fields.sans_permitidos,
      share: 30,
      cell: ({ sans_permitidos: sans }) =>
        sans.length === 0 ? text.noNames : sans.includes('*') ? text.anyName : sans.join(', '),
    },
  ]
}

/** The page of a politica that is not there yet makes it. */
function Begin({
  label,
  field,
  hrefOf: hrefOfNew,
}: {
  readonly label: string
  readonly field: string
  readonly hrefOf: (name: string) => string
}): JSX.Element {
  const [name, setName] = useState('')
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') follow(hrefOfNew(name.trim()))
      }}
    >
      <label class="field">
        <span class="visually-hidden">{`${label}: ${field}`}</span>
        <input
          value={name}
          placeholder={field}
          maxLength={128}
          autocomplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button small">
        {label}
      </button>
    </form>
  )
}
