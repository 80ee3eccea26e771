import { invariant } from '../../../../platform/errors.ts'
import type { WebhookId } from '../../../../protocol/identifiers.ts'
import { formatSelector } from '../../../../protocol/selector.ts'
import type { ObjectChange, PresentObject } from '../../../domain/plan-fleet.ts'
import { nameWebhook, type Webhook } from '../../../domain/webhook.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { AdminRefusal } from '../../admin-act.ts'
import { parseDecidingWhere } from '../../parse-where.ts'
import {
  insertWebhook,
  parseSentTypes,
  parseWebhookUrl,
  refuseTooMany,
} from '../../webhooks/create-webhook.ts'
import {
  type AppliedChange,
  changesOf,
  type Declarable,
  present,
  sorted,
  valuesAfter,
} from './declarable.ts'

const KIND = 'webhook'

/** A webhook is named by its URL. */
export const declaredWebhooks: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove object',
  declare: async (_reader, { webhooks = [] }) =>
    webhooks.map(({ url, tipos, where }) => ({
      kind: KIND,
      name: parseWebhookUrl(url),
      fields: present({ tipos: tipos && sorted(parseSentTypes(tipos)), where: parseFilter(where) }),
    })),
  read: async (reader, { names, ids }) => {
    const webhooks = await reader.webhooks.list()
    const isWanted = ({ id, url }: Webhook) => names.includes(url) || ids.includes(id)
    const found = webhooks.filter(isWanted)
    for (const { url } of found) {
      if (!names.includes(url) || found.filter((each) => each.url === url).length === 1) continue
      throw new AdminRefusal(
        'declared_ambiguous',
        `more than one webhook has the URL ${url}: remove all but one`,
      )
    }
    return found.map(toPresent)
  },
  check: async (reader, changes) => {
    const created = changesOf(changes, KIND, 'create').length
    const removed = changesOf(changes, KIND, 'remove').length
    refuseTooMany((await reader.webhooks.list()).length + created - removed)
  },
  apply: async (writer, changes, { now }) => {
    const applied: AppliedChange[] = []
    for (const change of changesOf(changes, KIND, 'remove', 'update', 'create')) {
      const { name: url, id, action } = change
      const { tipos = [], where = null } = valuesAfter(change)
      const types = tipos as readonly string[]
      const selector = where === null ? null : parseDecidingWhere(where as string)
      if (id === null) {
        const { webhook, secret } = await insertWebhook(
          writer,
          { url, types, where: selector },
          now,
        )
        const made = { name: url, id: webhook.id, said: nameWebhook(webhook) }
        const webhookSecret = secret === null ? undefined : { id: webhook.id, url, secret }
        applied.push({ ...made, ...(webhookSecret && { webhookSecret }) })
        continue
      }
      if (action === 'remove') await writer.webhooks.remove(id as WebhookId)
      else await changeFilter(writer, change, id as WebhookId)
      applied.push({ name: url, id, said: nameWebhook({ id: id as WebhookId, url }) })
    }
    return applied
  },
}

function toPresent({ id, url, types, where }: Webhook): PresentObject {
  const selector = where === null ? null : formatSelector(where)
  return { kind: KIND, id, name: url, fields: { tipos: sorted(types), where: selector } }
}

/** In its one form; null for entries about all hosts, and about none. */
function parseFilter(where: string | null | undefined): string | null | undefined {
  return typeof where === 'string' ? formatSelector(parseDecidingWhere(where)) : where
}

async function changeFilter(
  writer: StoreWriter,
  change: ObjectChange,
  id: WebhookId,
): Promise<void> {
  const webhook = await writer.webhooks.find(id)
  invariant(webhook !== undefined, 'a webhook that is changed is there')
  const { tipos = webhook.types, where } = valuesAfter(change)
  const selector = typeof where === 'string' ? parseDecidingWhere(where) : null
  await writer.webhooks.setFilter({
    ...webhook,
    types: tipos as readonly string[],
    where: where === undefined ? webhook.where : selector,
  })
}
