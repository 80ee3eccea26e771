// How one entry hangs in the chain: it and two on each side.

import type { JSX } from 'preact'
import type { EntryLanguage } from '../../../explain/entry-language.ts'
import { hrefOf } from '../../frame/router.ts'
import { formatCount } from '../../parts/time.tsx'
import { shortenHostname } from '../../parts/shorten-hostname.ts'
import { Chain, type ChainBlock } from '../../pictures/chain.tsx'
import { words } from '../../words/words.ts'
import { useEntryHashes } from './check-entry.ts'
import { describeLogEntry, whoOf } from './describe-log-entry.ts'
import { type EntryFilters, toQuery } from './entry-filters.ts'
import type { Entry } from './entry-list.ts'

export function ChainCard({
  entries,
  chosen,
  filters,
  language,
}: {
  /** Oldest first. */
  readonly entries: readonly Entry[]
  readonly chosen: number
  readonly filters: EntryFilters
  readonly language: EntryLanguage
}): JSX.Element | null {
  const { audit } = words()
  const hashes = useEntryHashes(entries)
  if (entries.length === 0) return null
  const blocks = entries.map((entry): ChainBlock => {
    const known = hashes.get(entry.seq)
    return {
      seq: entry.seq,
      title: describeLogEntry(entry, language).title,
      who: entry.agente_id === null ? whoOf(entry) : shortenHostname(whoOf(entry)),
      before: entry.hash_anterior,
      hash: entry.hash_atual,
      href: hrefOf(`/audit/${entry.seq}`, toQuery(filters)),
      isHashRight: known === undefined ? undefined : known === 'equal',
    }
  })
  return (
    <section class="card" aria-labelledby="log-chain">
      <header>
        <h2 id="log-chain">{audit.chain(formatCount(chosen))}</h2>
        <span class="grow" />
        <span class="faint wide">{audit.chainFormula}</span>
      </header>
      <Chain
        blocks={blocks}
        chosen={chosen}
        words={{
          entry: audit.entry,
          before: audit.before,
          hash: audit.hash,
          joined: audit.joined,
          broken: audit.notJoined,
          table: audit.chainTable,
          equal: audit.equal,
          other: audit.other,
          computing: audit.computing,
          count: formatCount,
        }}
      />
    </section>
  )
}
