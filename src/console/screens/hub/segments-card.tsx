// Old entries of the log, which are in files outside the vault, and whether the files are there.

import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import type { Shown } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { language } from '../../frame/preferences.ts'
import { Answer, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { describeBytes } from '../../parts/describe-bytes.ts'
import type { IconName } from '../../parts/icon.tsx'
import { ArrivedButton, PagedRows } from '../../parts/paged-rows.tsx'
import { Pill, type Tone } from '../../parts/pill.tsx'
import { formatCount, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

type Examined = AdminReplies['showExamination']
type Segment = AdminReplies['listSegments']['segments'][number] & { readonly id: string }

const LOOKS: Readonly<Record<'present' | 'missing' | 'damaged', readonly [Tone, IconName]>> = {
  present: ['ok', 'check'],
  missing: ['bad', 'x'],
  damaged: ['bad', 'octagon-x'],
}

export function SegmentsCard({ examined }: { readonly examined: Shown<Examined> }): JSX.Element {
  const { hub: text } = words()
  const pages = usePages('segments', async (after) => {
    const { segments, next } = await ask('listSegments', {
      limit: PAGE_ROWS,
      ...(after !== undefined && { after: Number(after) }),
    })
    return {
      rows: segments.map((segment) => ({ ...segment, id: segment.file })),
      next: next === null ? null : String(next),
      total: null,
    }
  })
  return (
    <section class="card" aria-labelledby="segments">
      <header>
        <h2 id="segments">{text.segments}</h2>
        <span class="grow" />
        <ArrivedButton pages={pages} />
      </header>
      <Answer shown={examined}>{(data) => <Room examined={data} />}</Answer>
      <PagedRows
        label={text.segments}
        pages={pages}
        columns={[
          {
            name: 'entries',
            label: text.entries,
            share: 22,
            narrowShare: 40,
            cell: ({ first, last, first_at: from }: Segment) => (
              <>
                {formatCount(first)}–{formatCount(last)}
                <div class="narrow faint">
                  <Time at={from} />
                </div>
              </>
            ),
          },
          {
            name: 'span',
            label: text.span,
            share: 26,
            isWideOnly: true,
            cell: ({ first_at: from, last_at: until }) => (
              <>
                <Time at={from} /> – <Time at={until} />
              </>
            ),
          },
          {
            name: 'bytes',
            label: text.size,
            share: 12,
            narrowShare: 20,
            cell: ({ bytes }) => describeBytes(bytes, language.value),
          },
          {
            name: 'state',
            label: text.state,
            share: 14,
            narrowShare: 40,
            cell: ({ state }) => <SegmentState state={state} />,
          },
          {
            name: 'file',
            label: text.file,
            share: 26,
            isWideOnly: true,
            cell: ({ file }) => <code title={file}>{file}</code>,
          },
        ]}
        empty={
          <Notice title={text.allInVault} hint={sayWhere(examined.data?.segments?.directory)}>
            <Command text={svc.archiveEntries} />
          </Notice>
        }
      />
      {pages.rows.length > 0 && (
        <div class="body commands">
          <p class="muted">{text.moreCanLeave}</p>
          <Command text={svc.archiveEntries} />
        </div>
      )}
    </section>
  )
}

/** Where entries could move; nothing until the hub said whether it has a directory for them. */
function sayWhere(directory: string | null | undefined): string {
  const { hub: text } = words()
  if (directory === undefined) return ''
  return directory === null ? text.noDirectory : text.canLeave(directory)
}

/** Where the files are, whether all are, and how much room the vault has. */
function Room({ examined: { segments, disk } }: { readonly examined: Examined }): JSX.Element {
  const { hub: text } = words()
  const size = (bytes: number): string => describeBytes(bytes, language.value)
  const faulty = segments === null ? 0 : segments.missing + segments.damaged
  return (
    <>
      <dl class="facts">
        {segments !== null && segments.directory !== null && (
          <>
            <dt>{text.directory}</dt>
            <dd>
              <code>{segments.directory}</code>
            </dd>
          </>
        )}
        {disk !== null && (
          <>
            <dt>{text.disk}</dt>
            <dd>
              {text.free(size(disk.free_bytes))}
              {disk.vault_bytes !== null && ` · ${text.vaultHas(size(disk.vault_bytes))}`}
              {disk.growth_bytes_per_day !== null &&
                ` · ${text.grows(size(disk.growth_bytes_per_day))}`}
            </dd>
          </>
        )}
      </dl>
      {faulty > 0 && (
        <Notice title={text.faulty(faulty)} hint={text.faultyHint}>
          <Command text={svc.listSegments} />
        </Notice>
      )}
    </>
  )
}

function SegmentState({ state }: { readonly state: string }): JSX.Element {
  const { hub: text } = words()
  if (state !== 'present' && state !== 'missing' && state !== 'damaged') return <code>{state}</code>
  return <Pill tone={LOOKS[state][0]} icon={LOOKS[state][1]} text={text.segmentStates[state]} />
}
