// Of a carga with a selector: which hosts wait for it and why, and which have it without matching.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { words } from '../../words/words.ts'

type Selection = AdminReplies['showSelection']

const SHOWN_MAX = 20

export function SelectionCard({
  cargo: { id, versao },
  where,
}: {
  readonly cargo: Pick<AdminReplies['showCargo'], 'id' | 'versao'>
  readonly where: string
}): JSX.Element {
  const { cargo } = words()
  const shown = useQuery('showSelection', { carga: id })
  return (
    <section class="card" aria-labelledby="selection">
      <header>
        <h2 id="selection">{cargo.selection}</h2>
        <code>{where}</code>
      </header>
      <Answer shown={shown.value}>
        {(selection) => <Waiting selection={selection} versao={versao} />}
      </Answer>
    </section>
  )
}

function Waiting({
  selection,
  versao,
}: {
  readonly selection: Selection
  readonly versao: number
}): JSX.Element {
  const { cargo } = words()
  const { matching, waiting, waiting_total: total, unmatched, nome } = selection
  const { unmatched_total: unmatchedTotal } = selection
  const isUnsealed = waiting.some(({ reason }) => reason === 'not_sealed')
  return (
    <div class="body form">
      <p>{cargo.matching(matching)}</p>
      {total === 0 && <p class="muted">{cargo.allHave}</p>}
      {total > 0 && (
        <>
          <h3>{cargo.waiting(total)}</h3>
          <ul class="plain">
            {waiting.slice(0, SHOWN_MAX).map(({ agente_id: host, hostname, reason, detail }) => (
              <li key={host}>
                <a class="link" href={hrefOf(`/hosts/${host}`)}>
                  {hostname}
                </a>{' '}
                {cargo.reasons[reason] ?? reason}
                {detail !== null && `: ${detail}`}
              </li>
            ))}
            {total > SHOWN_MAX && <li class="faint">{cargo.andMore(total - SHOWN_MAX)}</li>}
          </ul>
        </>
      )}
      {isUnsealed && (
        <div>
          <p>{cargo.reseal}</p>
          <Command text={svc.resealCargo(nome)} />
        </div>
      )}
      {unmatchedTotal > 0 && (
        <>
          <h3>{cargo.unmatched(unmatchedTotal)}</h3>
          <ul class="plain">
            {unmatched.slice(0, SHOWN_MAX).map(({ id, agente_id: host, hostname }) => (
              <li key={id}>
                <a class="link" href={hrefOf(`/hosts/${host}`)}>
                  {hostname}
                </a>
              </li>
            ))}
            {unmatchedTotal > SHOWN_MAX && (
              <li class="faint">{cargo.andMore(unmatchedTotal - SHOWN_MAX)}</li>
            )}
          </ul>
          <IfAllowed name="pruneCargo">
            <Prune id={selection.carga_id} nome={nome} versao={versao} />
          </IfAllowed>
        </>
      )}
    </div>
  )
}

function Prune({
  id,
  nome,
  versao,
}: {
  readonly id: string
  readonly nome: string
  readonly versao: number
}): JSX.Element {
  const { cargo } = words()
  // As it was when somebody decided to.
  const [pruned, setPruned] = useState<number | undefined>(undefined)
  return (
    <div>
      <button type="button" class="button danger" onClick={() => setPruned(versao)}>
        {cargo.prune}
      </button>
      {pruned !== undefined && (
        <ActDialog
          title={cargo.pruneTitle(nome)}
          name="pruneCargo"
          request={{ carga: id, versao: pruned }}
          label={cargo.pruneButton}
          isDangerous
          onClose={() => setPruned(undefined)}
        >
          <p>{cargo.pruneText}</p>
        </ActDialog>
      )}
    </div>
  )
}
