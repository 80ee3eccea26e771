// The roots that hub and agents trust, and what still needs an old one.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Hostname } from '../../parts/hostname.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { Pill } from '../../parts/pill.tsx'
import { formatCount, Relative, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { listOldRoots } from './describe-roots.ts'

type Bundle = AdminReplies['showBundle']
const SHOWN_MAX = 40
/** The hub looks at all agents for it: not at each ring. */
const TIPOS = ['bundle_changed']

export function RootsScreen(): JSX.Element {
  const { roots: text } = words()
  const shown = useQuery('showBundle', { pendentes_max: SHOWN_MAX }, { tipos: TIPOS })
  return (
    <Screen title={text.title} wire="bundle" commands={[svc.showBundle]}>
      <Answer shown={shown.value}>
        {(bundle) => (
          <>
            <SetCard bundle={bundle} />
            <NeedsCard bundle={bundle} />
          </>
        )}
      </Answer>
    </Screen>
  )
}

function SetCard({ bundle }: { readonly bundle: Bundle }): JSX.Element {
  const { roots: text } = words()
  const [isUpdating, setUpdating] = useState(false)
  return (
    <section class="card" aria-labelledby="set">
      <header>
        <h2 id="set">{text.set(bundle.numero, bundle.epoca)}</h2>
        <span class="muted">
          {text.since} <Time at={bundle.created_at} />
        </span>
        <span class="grow" />
        {bundle.trust_key === undefined && (
          <IfAllowed name="updateBundle">
            <button type="button" class="button small" onClick={() => setUpdating(true)}>
              {text.update}
            </button>
          </IfAllowed>
        )}
      </header>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.root}</th>
            <th scope="col">{text.ends}</th>
            <th scope="col">{text.certificates}</th>
          </tr>
        </thead>
        <tbody>
          {bundle.roots.map((root) => (
            <tr key={root.fingerprint}>
              <td>
                <b class="breaks">{root.subject}</b>{' '}
                {root.is_hubs_own && <Pill tone="ok" icon="check" text={text.hubsOwn} />}
                <div class="faint">
                  <code class="breaks">{root.fingerprint.slice(0, 16)}…</code>{' '}
                  <CopyButton text={root.fingerprint} />
                </div>
              </td>
              <td>
                {root.is_valid ? (
                  <Relative at={root.not_after} />
                ) : (
                  <Pill tone="bad" icon="clock-alert" text={text.invalid} />
                )}
              </td>
              <td>{formatCount(root.certificados)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {bundle.file_differs === true && <p class="body c-due">{text.fileDiffers}</p>}
      {bundle.trust_key !== undefined && (
        <div class="body plain-list">
          <p>{text.signed}</p>
          <p class="faint">
            <code class="breaks">{bundle.trust_key}</code>
          </p>
          <Command text={svc.signBundle} />
        </div>
      )}
      {isUpdating && <UpdateDialog onClose={() => setUpdating(false)} />}
    </section>
  )
}

function UpdateDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { roots: text } = words()
  const [isForced, setForced] = useState(false)
  return (
    <ActDialog
      title={text.update}
      about={isForced ? text.forceAbout : text.updateAbout}
      name="updateBundle"
      request={isForced ? { force: true } : {}}
      label={text.updateButton}
      isDangerous={isForced}
      onClose={onClose}
    >
      <p>{text.updateText}</p>
      <label class="check">
        <input
          type="checkbox"
          checked={isForced}
          onChange={({ currentTarget }) => setForced(currentTarget.checked)}
        />
        <span>{text.force}</span>
      </label>
    </ActDialog>
  )
}

function NeedsCard({ bundle }: { readonly bundle: Bundle }): JSX.Element {
  const { roots: text } = words()
  const old = listOldRoots(bundle)
  const total = bundle.pendentes_total ?? bundle.pendentes.length
  return (
    <section class="card" aria-labelledby="needs">
      <header>
        <h2 id="needs">{text.needs}</h2>
      </header>
      <div class="body plain-list">
        {old.length === 0 && <p>{text.noOldRoot}</p>}
        {old.map(({ root, certificates }) => (
          <p key={root.fingerprint} class={certificates > 0 ? 'c-late' : ''}>
            <b class="breaks">{root.subject}</b>:{' '}
            {certificates === 0 ? text.notNeeded : text.needed(formatCount(certificates))}
          </p>
        ))}
        {bundle.certificados_unknown > 0 && (
          <p class="muted">{text.unknown(formatCount(bundle.certificados_unknown))}</p>
        )}
        <p>
          {bundle.agentes === 0
            ? text.noHosts
            : total === 0
              ? text.allAdopted(formatCount(bundle.agentes))
              : text.pending(formatCount(total), formatCount(bundle.agentes))}
        </p>
      </div>
      {bundle.pendentes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{text.host}</th>
              <th scope="col">{text.trusts}</th>
              <th scope="col">{text.why}</th>
            </tr>
          </thead>
          <tbody>
            {bundle.pendentes.map(({ id, hostname, numero, is_pinned: isPinned, erro }) => (
              <tr key={id}>
                <td>
                  <a class="link breaks" href={hrefOf(`/hosts/${id}`)}>
                    <Hostname name={hostname} />
                  </a>
                </td>
                <td>{numero === null ? text.neverSaid : text.number(numero)}</td>
                <td class="breaks">{erro ?? (isPinned ? text.pinned : '–')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {total > bundle.pendentes.length && (
        <div class="foot">
          {words().frame.rows(formatCount(bundle.pendentes.length), formatCount(total))}
          <Command text={svc.showBundle} />
        </div>
      )}
    </section>
  )
}
