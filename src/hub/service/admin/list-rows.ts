// Lists that show the rows of one table.

import type { Page } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { toAdminCargo, toAdminToken } from '../admin-views.ts'
import { readPage } from '../read-page.ts'
import { withStatuses } from './cargo-statuses.ts'
import { viewDeliveries } from './view-deliveries.ts'
import type { AdminContext } from './admin-context.ts'

export const listTokens: Read<'listTokens'> = async (reader, request) => {
  const { rows, next } = await readPage(request, reader.pageTokens.bind(reader), toAdminToken)
  return { tokens: rows, next }
}

export const listCargoes: Read<'listCargoes'> = async (reader, request) => {
  const { rows, next } = await readPage(request, reader.pageCargoes.bind(reader), toAdminCargo)
  return { cargas: await withStatuses(reader, rows), next }
}

export const listDeliveries: Read<'listDeliveries', Pick<AdminContext, 'waiting'>> = async (
  reader,
  request,
  { waiting },
) => {
  const read = async (page: Page) => {
    const deliveries = await reader.pageDeliveries(page)
    return deliveries && viewDeliveries(reader, deliveries, waiting)
  }
  const { rows, next } = await readPage(request, read, (delivery) => delivery)
  return { entregas: rows, next }
}
