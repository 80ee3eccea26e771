// What `svc standby` is told of a hub, or of a standby. docs/protocol.md STB-13, STB-14.

import { type Static, Type } from 'typebox'

/** What a hub does without its standby. */
export const StandbyMode = Type.Union([Type.Literal('required'), Type.Literal('preferred')])
export type StandbyMode = Static<typeof StandbyMode>

/** `together`: the standby has all that is here; `alone`: it lacks something, and writes go on; `apart`: and no write goes on. */
export const STANDBY_STATES = ['together', 'alone', 'apart'] as const
export type StandbyState = (typeof STANDBY_STATES)[number]

export const StandbyStatus = Type.Object({
  role: Type.Union([Type.Literal('hub'), Type.Literal('standby')]),
  mode: Type.Union([StandbyMode, Type.Null()]),
  /** Of a hub a StandbyState, or `none`; of a standby `connected`, `silent`, `behind` while another copy is on its way, or `empty` before the first. */
  state: Type.String(),
  /** Of a standby the URL of its hub; of a hub the address of the standby that is connected. */
  other: Type.Union([Type.String(), Type.Null()]),
  /** Why the other one is away. */
  reason: Type.Union([Type.String(), Type.Null()]),
  /** The last record that is here. */
  record: Type.Union([Type.Number(), Type.Null()]),
  /** Of a standby: when its hub was heard last. */
  hub_heard_at: Type.Union([Type.String(), Type.Null()]),
})
export type StandbyStatus = Static<typeof StandbyStatus>

export const PromoteReply = Type.Object({
  record: Type.Number(),
  epoch: Type.Union([Type.Number(), Type.Null()]),
  mode: Type.Union([StandbyMode, Type.Null()]),
  hub_heard_at: Type.Union([Type.String(), Type.Null()]),
})
export type PromoteReply = Static<typeof PromoteReply>

export const DOOR_ROUTES = { status: '/v1/standby', promote: '/v1/standby/promote' } as const
