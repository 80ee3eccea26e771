/** The word that starts svc as the keeper of recipients.json, before the file's path; for nobody but svc itself. */
export const KEEPER_COMMAND = '__keep-recipients'
