// The passkeys of who is signed in, where the hub asks for them: registered, and removed.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { hasPasskeys } from '../../api/passkeys.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { holder } from '../../api/session.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer, Notice } from '../../parts/answer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { RegisterPasskeyDialog } from './register-passkey-dialog.tsx'

/** What changes the list; time alone changes whether a first one may be registered. */
const TIPOS = ['passkey_registered', 'passkey_removed']

type Passkeys = AdminReplies['listPasskeys']
type Passkey = Passkeys['passkeys'][number]

export function PasskeysCard(): JSX.Element | null {
  const { access: text } = words()
  const name = holder.value?.name ?? ''
  const [isRegistering, setRegistering] = useState(false)
  const [removed, setRemoved] = useState<Passkey | undefined>(undefined)
  const shown = useQuery('listPasskeys', { name }, { tipos: TIPOS, goesWithTime: true })
  const registration = shown.value.data?.registration ?? 'off'
  if (registration === 'off') return null
  const mayRegister = hasPasskeys() && (registration === 'open' || registration === 'confirmed')
  return (
    <section class="card" aria-labelledby="passkeys">
      <header>
        <h2 id="passkeys">{text.passkeys}</h2>
        <span class="grow" />
        {mayRegister && (
          <button type="button" class="button small primary" onClick={() => setRegistering(true)}>
            <Icon name="plus" small />
            {text.registerPasskey}
          </button>
        )}
      </header>
      <Answer shown={shown.value}>
        {({ passkeys }) => <Rows passkeys={passkeys} onRemove={setRemoved} />}
      </Answer>
      <WhyNot registration={registration} />
      {isRegistering && <RegisterPasskeyDialog onClose={() => setRegistering(false)} />}
      {removed !== undefined && (
        <ActDialog
          title={text.removePasskeyTitle(removed.label)}
          name="removePasskeys"
          request={{ name, passkey: removed.id }}
          label={text.removePasskey}
          isDangerous
          onClose={() => setRemoved(undefined)}
        >
          <p>{text.removePasskeyText}</p>
        </ActDialog>
      )}
    </section>
  )
}

function WhyNot({
  registration,
}: {
  readonly registration: Passkeys['registration']
}): JSX.Element | null {
  const { access: text, confirm } = words()
  if (!hasPasskeys()) return <Notice title={confirm.oldBrowser} />
  if (registration === 'late')
    return <Notice title={text.passkeyLate} hint={text.passkeyLateHint} />
  if (registration === 'full') return <Notice title={text.passkeysFull} />
  return null
}

function Rows({
  passkeys,
  onRemove,
}: {
  readonly passkeys: readonly Passkey[]
  readonly onRemove: (passkey: Passkey) => void
}): JSX.Element {
  const { access: text } = words()
  if (passkeys.length === 0) return <p class="body muted">{text.noPasskeys}</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{text.passkeyLabel}</th>
          <th scope="col" class="wide">
            {text.started}
          </th>
          <th scope="col">{text.lastUsed}</th>
          <th scope="col">{text.acts}</th>
        </tr>
      </thead>
      <tbody>
        {passkeys.map((passkey) => (
          <tr key={passkey.id}>
            <td>
              <b>{passkey.label}</b>
            </td>
            <td class="wide">
              <Relative at={passkey.created_at} />
            </td>
            <td>
              {passkey.last_used_at === null ? text.never : <Relative at={passkey.last_used_at} />}
            </td>
            <td>
              <button
                type="button"
                class="button small"
                aria-label={text.removePasskeyTitle(passkey.label)}
                onClick={() => onRemove(passkey)}
              >
                {text.removePasskey}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
