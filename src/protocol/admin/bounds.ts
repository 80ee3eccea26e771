// How much an admin request or reply may hold.

/** Cursor lists answer at most `limit` rows after `after`, and in `next` what the next page starts after. */
export const ENTRY_PAGE_MAX = 500
/** A list of entries may ask for so many types at once. */
export const ENTRY_TYPES_MAX = 32
/** Who entries are by, where no name is asked for. */
export const ENTRY_GROUPS = ['people', 'hosts'] as const
/** Segments of the log that are looked for at once. */
export const SEGMENT_PAGE_MAX = 1000
export const LIST_PAGE_MAX = 10_000
/** A request may ask for the proofs of so many blocks of sixteen entries. */
export const PROVEN_BLOCKS_MAX = 64

/** Room for a sealed file of the default limit with the recipients of a few thousand agents. */
export const SEALED_BASE64_CHARACTERS_MAX = 12 * 1024 * 1024

/** A checkpoint with the signatures of many witnesses, and the witnesses that one request names. */
export const COSIGNED_CHARACTERS_MAX = 64 * 1024
export const WITNESSES_MAX = 16
/** One of ML-DSA-44 has 1,752 characters after its name. */
export const WITNESS_KEY_CHARACTERS_MAX = 2304

/** The content of a file that is pushed, in UTF-8. */
export const PUSH_BYTES_MAX = 16 * 1024

/** Entregas that one request may name to be tried again. */
export const RETRIED_MAX = 500

/** What lists and the search look for in names. */
export const SEARCH_CHARACTERS_MAX = 128
