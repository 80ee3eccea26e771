import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import type { CommandContext } from '../command-context.ts'
import {
  parseEntryListing,
  type EntryListing,
  type EventoListOptions,
} from './evento-list-options.ts'
import { followEntries } from './follow-entries.ts'
import {
  printEntriesAsJson,
  printEntriesAsJsonLines,
  printEntriesAsTable,
  type EntryPrinter,
  type ListLacks,
  type UnreadEntries,
} from './print-entries.ts'
import { requireKnownTypes } from './known-event-types.ts'
import { type EntryQuery, readEntryPages, readLastEntries } from './read-entries.ts'
import { requireFeature } from '../require-feature.ts'
import { failIfBroken, verifyLog, verifyPages, type LogVerification } from './verify-log.ts'

const OTHERWISE = 'no event has it: svc event list shows types, such as entrega_falhou'

export async function listEntries(
  context: CommandContext,
  options: EventoListOptions,
): Promise<void> {
  const listing = parseEntryListing(options, context.clock.now())
  const printer = choosePrinter(context, options)
  await context.withAdmin(async ({ operations: known, isThroughHub, openChanges }) => {
    if (options.follow && !isThroughHub) {
      throw new UserError('hub_missing', '--follow needs a running hub, and none holds the vault', {
        hint: 'start svc-server, or leave --follow out',
      })
    }
    await requireFilters(known, listing.query)
    await requireKnownTypes(known, options.tipo ?? [], OTHERWISE)
    const { operations, findLacks } = notingLacks(known)
    const pages = readPages(operations, listing)
    if (options.verify) {
      const verification = await printVerified(context, operations, listing, printer, pages)
      await printer.end(verification, findLacks())
      failIfBroken(verification)
      return
    }
    const lastSeq = await printPages(context, printer, pages)
    if (options.follow && !context.output.isClosed) {
      const after = Math.max(lastSeq, listing.after ?? 0)
      await followEntries(context, {
        operations,
        openChanges,
        query: listing.query,
        printer,
        after,
      })
    }
    await printer.end(undefined, findLacks())
  })
}

/** An older hub ignores what it does not know, and answers more than was asked for. docs/protocol.md API-28. */
async function requireFilters(operations: AdminOperations, query: EntryQuery): Promise<void> {
  const { about, actor, by, routine, until, before, tipos } = query
  if ((about ?? actor ?? by ?? routine ?? until ?? before ?? tipos) === undefined) return
  await requireFeature(operations, 'entry_filters', 'it would list other entries too')
}

/** Remembers what the hub says of its index and of its segments, with the pages that it answers. */
function notingLacks(operations: AdminOperations): {
  readonly operations: AdminOperations
  readonly findLacks: () => ListLacks
} {
  let indexedFrom: number | undefined
  const missing = new Map<string, UnreadEntries>()
  const noted: Pick<AdminOperations, 'listEntries'> = {
    listEntries: async (request) => {
      const page = await operations.listEntries(request)
      indexedFrom = page.indexed_from
      for (const unread of page.missing ?? []) missing.set(unread.file, unread)
      return page
    },
  }
  return {
    operations: { ...operations, ...noted },
    findLacks: () => ({ indexedFrom, missing: [...missing.values()] }),
  }
}

function choosePrinter({ output }: CommandContext, options: EventoListOptions): EntryPrinter {
  if (!options.json) return printEntriesAsTable(output)
  return options.follow ? printEntriesAsJsonLines(output) : printEntriesAsJson(output)
}

async function* readPages(
  operations: AdminOperations,
  { query, limit, after }: EntryListing,
): AsyncGenerator<AdminEntry[]> {
  if (after !== undefined) yield* readEntryPages(operations, query, { after, limit })
  else if (limit === undefined) yield* readEntryPages(operations, query)
  else yield await readLastEntries(operations, query, limit)
}

/** The `seq` of the last entry, 0 when there was none. */
async function printPages(
  { output, progress }: CommandContext,
  printer: EntryPrinter,
  pages: AsyncIterable<AdminEntry[]>,
): Promise<number> {
  let lastSeq = 0
  let count = 0
  for await (const page of pages) {
    await printer.print(page)
    if (output.isClosed) break
    lastSeq = page.at(-1)?.seq ?? lastSeq
    count += page.length
    // On a terminal the entries that go by are progress enough.
    if (!output.isTerminal) progress.show(`${count} events`)
  }
  progress.clear()
  return lastSeq
}

/** A listing of the whole log reads the log once. Verification reads to the end even when nobody reads the list. */
async function printVerified(
  context: CommandContext,
  operations: AdminOperations,
  listing: EntryListing,
  printer: EntryPrinter,
  pages: AsyncIterable<AdminEntry[]>,
): Promise<LogVerification> {
  if (!listing.isWholeLog) {
    await printPages(context, printer, pages)
    return verifyLog(operations, context.progress, listing.kept)
  }
  // On a terminal the entries that go by are progress enough.
  const progress = context.output.isTerminal ? undefined : context.progress
  const print = (page: readonly AdminEntry[]): Promise<void> => printer.print(page)
  return verifyPages(operations, pages, progress, { kept: listing.kept, print })
}
