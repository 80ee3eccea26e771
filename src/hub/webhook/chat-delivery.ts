// Messages to people who read Slack or Teams: one post for many entries. docs/protocol.md WHK-29, WHK-30.

import type { Clock } from '../../platform/clock.ts'
import { composeDigest, type NoticeDigest, type NoticeSource } from '../domain/notice-digest.ts'
import { readSlackAnswer, slackMessage } from '../domain/slack-message.ts'
import { readTeamsAnswer, teamsMessage } from '../domain/teams-message.ts'
import { attemptDelivery, type Delivery } from './delivery.ts'
import { DIGEST_GATHER_MS, DIGEST_MESSAGES_MAX } from './digest-pace.ts'
import { judgeReply } from './judge-reply.ts'
import type { WebhookConnection } from './webhook-connection.ts'

export interface ChatDeliveryOptions {
  readonly format: 'slack' | 'teams'
  readonly connection: WebhookConnection
  readonly notices: NoticeSource
  readonly clock: Clock
  readonly userAgent: string
}

interface ChatForm {
  readonly render: (digest: NoticeDigest) => string
  readonly readAnswer: typeof readSlackAnswer
}

const FORMS: Readonly<Record<ChatDeliveryOptions['format'], ChatForm>> = {
  slack: { render: slackMessage, readAnswer: readSlackAnswer },
  teams: { render: teamsMessage, readAnswer: readTeamsAnswer },
}

export function createChatDelivery(options: ChatDeliveryOptions): Delivery {
  const { format, connection, notices, clock, userAgent } = options
  const { render, readAnswer } = FORMS[format]
  return {
    messagesMax: DIGEST_MESSAGES_MAX,
    gatherMs: DIGEST_GATHER_MS,
    isDigest: true,
    deliver: (messages, cut) =>
      attemptDelivery(async (signal) => {
        const reply = await connection.post({
          headers: { 'content-type': 'application/json', 'user-agent': userAgent },
          body: render(composeDigest(messages, notices)),
          signal,
          readsReply: true,
        })
        const { status } = reply
        const answer = readAnswer(status, reply.body)
        if (answer === undefined) return judgeReply(reply, clock.now())
        return { kind: answer.kind, status, error: `answered ${status} ${answer.reason}` }
      }, cut),
    close: () => connection.close(),
  }
}
