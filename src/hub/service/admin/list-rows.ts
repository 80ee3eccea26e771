// Lists that show the rows of one table.

import { ENTRY_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { EntryFilter, Page } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { toAdminCargo, toAdminEntry, toAdminToken } from '../admin-views.ts'
import { findAgent } from '../find-agent.ts'
import { parseTime, readPage } from '../read-page.ts'
import { viewDeliveries } from './view-deliveries.ts'

export const listTokens: Read<'listTokens'> = async (reader, request) => {
  const { rows, next } = await readPage(request, reader.pageTokens.bind(reader), toAdminToken)
  return { tokens: rows, next }
}

export const listCargoes: Read<'listCargoes'> = async (reader, request) => {
  const { rows, next } = await readPage(request, reader.pageCargoes.bind(reader), toAdminCargo)
  return { cargas: rows, next }
}

export const listDeliveries: Read<'listDeliveries'> = async (reader, request) => {
  const read = async (page: Page) => {
    const deliveries = await reader.pageDeliveries(page)
    return deliveries && viewDeliveries(reader, deliveries)
  }
  const { rows, next } = await readPage(request, read, (delivery) => delivery)
  return { entregas: rows, next }
}

export const listEntries: Read<'listEntries'> = async (reader, request) => {
  const filter: Omit<EntryFilter, 'afterSeq' | 'limit'> = {
    ...(request.tipo === undefined ? {} : { eventType: request.tipo }),
    ...(request.agente === undefined
      ? {}
      : { agentId: (await findAgent(reader, request.agente)).id }),
    ...(request.since === undefined ? {} : { since: parseTime(request.since) }),
  }
  const limit = request.last ?? request.limit ?? ENTRY_PAGE_MAX
  const entries =
    request.last === undefined
      ? await reader.listEntries({ ...filter, afterSeq: request.after ?? 0, limit })
      : await reader.listLastEntries(filter, request.last, request.before)
  const next = entries.length < limit ? undefined : entries.at(-1)?.seq
  return { eventos: entries.map(toAdminEntry), next: next ?? null }
}
