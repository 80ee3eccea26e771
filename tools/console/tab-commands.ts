// What the process of the plain tabs is told, and answers.

/** What a page was seen to ask. */
export interface AskedRequest {
  readonly method: string
  readonly path: string
  readonly body: string | null
  /** No more often, on average. */
  readonly everyMs: number
}

export interface PlainTab {
  /** Both halves of its session. */
  readonly headers: Readonly<Record<string, string>>
  readonly asks: readonly AskedRequest[]
}

export type TabsCommand =
  | { readonly do: 'sign-in'; readonly url: string; readonly code: string }
  | { readonly do: 'open'; readonly url: string; readonly tabs: readonly PlainTab[] }
  | { readonly do: 'close' }

/** Since they were opened. */
export interface TabsCounts {
  readonly rings: number
  readonly answers: number
  readonly refused: number
  /** Nobody answered; the tab asks again with the next ring. */
  readonly failed: number
}

/** Stands in a path for the number of the newest entry. */
export const NEWEST = '{newest}'
