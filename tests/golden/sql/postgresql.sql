-- Ledger, Ledger.enrol, Campaign.judge, db.notices.claim, db.copying.copy, Database
SELECT pg_advisory_xact_lock(%(pg_advisory_xact_lock_2)s::INTEGER) AS pg_advisory_xact_lock_1;

-- Ledger, db.copying.copy
CREATE TABLE campaign ( id SERIAL NOT NULL, uuid VARCHAR(36) NOT NULL, name VARCHAR(200) NOT NULL, problem TEXT
    NOT NULL, method VARCHAR(40) NOT NULL, depth INTEGER NOT NULL, seed INTEGER NOT NULL, tasks INTEGER NOT
    NULL, work FLOAT(53) NOT NULL, created FLOAT(53) NOT NULL, recheck_share FLOAT(53) NOT NULL, secret
    VARCHAR(64) NOT NULL, PRIMARY KEY (id), UNIQUE (name) );

-- Ledger, db.copying.copy
CREATE TABLE ledger ( uuid VARCHAR(36) NOT NULL, created FLOAT(53) NOT NULL, PRIMARY KEY (uuid) );

-- Ledger, db.copying.copy
CREATE TABLE voter ( id SERIAL NOT NULL, kind VARCHAR(10) NOT NULL, host VARCHAR(255) NOT NULL, token
    VARCHAR(64) NOT NULL, device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64) NOT NULL, valid INTEGER NOT
    NULL, distrusted FLOAT(53), PRIMARY KEY (id) );

-- Ledger, db.copying.copy
CREATE INDEX voter_distrusted ON voter (id)
WHERE distrusted IS NOT NULL;

-- Ledger, db.copying.copy
CREATE INDEX voter_machine ON voter (host, token);

-- Ledger, db.copying.copy
CREATE TABLE worker ( id VARCHAR(36) NOT NULL, host VARCHAR(255) NOT NULL, process VARCHAR(80) NOT NULL, started
    FLOAT(53) NOT NULL, device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64), voter_id INTEGER, last_seen
    FLOAT(53), ended FLOAT(53), ending VARCHAR(12), cores INTEGER, processes INTEGER, device_model VARCHAR(200),
    slurm_job VARCHAR(40), slurm_index INTEGER, PRIMARY KEY (id) );

-- Ledger, db.copying.copy
CREATE INDEX worker_voter ON worker (voter_id);

-- Ledger, db.copying.copy
CREATE TABLE event ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER, attempt_id INTEGER,
    at FLOAT(53) NOT NULL, kind VARCHAR(12) NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (id), FOREIGN
    KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy, Database
CREATE TABLE notice ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, channel VARCHAR(10) NOT NULL, kind
    VARCHAR(12) NOT NULL, about BIGINT NOT NULL, tries INTEGER NOT NULL, next_try FLOAT(53) NOT NULL, told
    FLOAT(53), PRIMARY KEY (id), UNIQUE (campaign_id, channel, kind, about), FOREIGN KEY(campaign_id) REFERENCES
    campaign (id) );

-- Ledger, db.copying.copy
CREATE TABLE task ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, work FLOAT(53) NOT NULL, state
    VARCHAR(12) NOT NULL, failures INTEGER NOT NULL, deaths INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY
    (campaign_id, task_index), FOREIGN KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy
CREATE INDEX task_queue ON task (campaign_id, state, work);

-- Ledger, db.copying.copy
CREATE TABLE token ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, role VARCHAR(10) NOT NULL, digest
    VARCHAR(64) NOT NULL, created FLOAT(53) NOT NULL, expires FLOAT(53), label VARCHAR(100) NOT NULL, PRIMARY
    KEY (id), FOREIGN KEY(campaign_id) REFERENCES campaign (id), UNIQUE (digest) );

-- Ledger, db.copying.copy
CREATE TABLE attempt ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, worker_id
    VARCHAR(36) NOT NULL, nonce VARCHAR(64), granted FLOAT(53) NOT NULL, began FLOAT(53), deadline FLOAT(53) NOT
    NULL, seconds FLOAT(53), copied BOOLEAN DEFAULT false NOT NULL, steps BIGINT, ended FLOAT(53), outcome
    VARCHAR(12), note TEXT, questioned FLOAT(53), PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index)
    REFERENCES task (campaign_id, task_index), FOREIGN KEY(worker_id) REFERENCES worker (id) );

-- Ledger, db.copying.copy
CREATE INDEX attempt_alone ON attempt (campaign_id, granted)
WHERE ended IS NULL
AND NOT copied;

-- Ledger, db.copying.copy
CREATE INDEX attempt_open ON attempt (deadline)
WHERE ended IS NULL;

-- Ledger, db.copying.copy
CREATE INDEX attempt_task ON attempt (campaign_id, task_index);

-- Ledger, db.copying.copy
CREATE INDEX attempt_worker ON attempt (worker_id, ended, outcome, granted, began);

-- Ledger, db.copying.copy
CREATE TABLE result ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL,
    voter_id INTEGER, confirmed_by INTEGER, doubt VARCHAR(10), listed BOOLEAN NOT NULL, value TEXT NOT NULL,
    residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT(53) NOT NULL, provenance TEXT NOT NULL,
    accepted FLOAT(53) NOT NULL, lot FLOAT(53) NOT NULL, PRIMARY KEY (campaign_id, task_index), FOREIGN
    KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES
    attempt (id) );

-- Ledger, db.copying.copy
CREATE INDEX result_confirmed ON result (confirmed_by)
WHERE confirmed_by IS NOT NULL;

-- Ledger, db.copying.copy
CREATE INDEX result_doubt ON result (campaign_id, doubt)
WHERE doubt IS NOT NULL;

-- Ledger, db.copying.copy
CREATE INDEX result_drawn ON result (campaign_id, voter_id, confirmed_by, lot)
WHERE listed;

-- Ledger, db.copying.copy
CREATE INDEX result_voter ON result (voter_id);

-- Ledger, db.copying.copy
CREATE TABLE witness ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id
    INTEGER NOT NULL, value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT(53) NOT
    NULL, provenance TEXT NOT NULL, accepted FLOAT(53) NOT NULL, lot FLOAT(53) NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id)
    REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE INDEX witness_task ON witness (campaign_id, task_index);

-- Ledger, db.copying.copy, Database
CREATE VIEW task_overview AS SELECT campaign.name AS campaign, task.task_index AS task, task.state, task.work,
    task.failures, task.deaths, (SELECT count(*) AS count_1
FROM attempt AS attempt_1
WHERE attempt_1.campaign_id = task.campaign_id
AND attempt_1.task_index = task.task_index) AS attempts, attempt.outcome, to_char(to_timestamp(attempt.granted)
    AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS granted, to_char(to_timestamp(attempt.began) AT TIME
    ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS began, to_char(to_timestamp(attempt.ended) AT TIME ZONE
    'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ended, result.seconds, result.value, CASE WHEN
    (result.confirmed_by IS NOT NULL) THEN 1 WHEN (result.attempt_id IS NOT NULL) THEN 0 END AS confirmed,
    result.doubt, attempt.worker_id AS worker, worker.host, worker.device_kind, worker.device_model, CASE WHEN
    (worker.slurm_index IS NULL) THEN worker.slurm_job ELSE worker.slurm_job || '_' || CAST(worker.slurm_index
    AS VARCHAR) END AS slurm
FROM task
JOIN campaign ON campaign.id = task.campaign_id
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
LEFT OUTER JOIN attempt ON attempt.id = coalesce(result.attempt_id, (SELECT max(attempt_1.id) AS max_1
FROM attempt AS attempt_1
WHERE attempt_1.campaign_id = task.campaign_id
AND attempt_1.task_index = task.task_index))
LEFT OUTER JOIN worker ON worker.id = attempt.worker_id;

-- Ledger, db.copying.copy, Database
CREATE VIEW worker_overview AS SELECT worker.id AS worker, (SELECT campaign.name
FROM campaign
JOIN attempt AS attempt_1 ON attempt_1.campaign_id = campaign.id
WHERE attempt_1.worker_id = worker.id
LIMIT 1) AS campaign, worker.host, worker.process, worker.device_kind, worker.device_model, worker.cores,
    worker.processes, worker.kernels, CASE WHEN (worker.slurm_index IS NULL) THEN worker.slurm_job ELSE
    worker.slurm_job || '_' || CAST(worker.slurm_index AS VARCHAR) END AS slurm,
    to_char(to_timestamp(worker.started) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS started,
    to_char(to_timestamp(worker.last_seen) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_seen,
    to_char(to_timestamp(worker.ended) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ended,
    worker.ending, to_char(to_timestamp(voter.distrusted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    AS distrusted, coalesce(numbers.leased, 0) AS leased, coalesce(numbers.done, 0) AS done,
    coalesce(numbers.released, 0) AS released, coalesce(numbers.preempted, 0) AS preempted,
    coalesce(numbers.expired, 0) AS expired, coalesce(numbers.failed, 0) AS failed, coalesce(numbers.died, 0) AS
    died, coalesce(numbers.superseded, 0) AS superseded, coalesce(numbers.busy_seconds, 0) AS busy_seconds,
    coalesce(numbers.lost_seconds, 0) AS lost_seconds
FROM worker
LEFT OUTER JOIN voter ON voter.id = worker.voter_id
LEFT OUTER JOIN (SELECT attempt.worker_id AS worker_id, sum(CASE WHEN (attempt.ended IS NULL) THEN 1 ELSE 0 END)
    AS leased, sum(CASE WHEN (attempt.outcome = 'done') THEN 1 ELSE 0 END) AS done, sum(CASE WHEN
    (attempt.outcome = 'released') THEN 1 ELSE 0 END) AS released, sum(CASE WHEN (attempt.outcome = 'preempted')
    THEN 1 ELSE 0 END) AS preempted, sum(CASE WHEN (attempt.outcome = 'expired') THEN 1 ELSE 0 END) AS expired,
    sum(CASE WHEN (attempt.outcome = 'failed') THEN 1 ELSE 0 END) AS failed, sum(CASE WHEN (attempt.outcome =
    'died') THEN 1 ELSE 0 END) AS died, sum(CASE WHEN (attempt.outcome = 'superseded') THEN 1 ELSE 0 END) AS
    superseded, sum(CASE WHEN (attempt.outcome IN ('done', 'superseded')) THEN attempt.ended -
    coalesce(attempt.began, attempt.granted) ELSE 0.0 END) AS busy_seconds, sum(CASE WHEN (attempt.ended IS NULL
    OR attempt.outcome IN ('done', 'superseded')) THEN 0.0 ELSE attempt.ended - coalesce(attempt.began,
    attempt.granted) END) AS lost_seconds
FROM attempt
GROUP BY attempt.worker_id) AS numbers ON numbers.worker_id = worker.id;

-- Ledger, db.copying.copy, Database
CREATE VIEW throughput AS SELECT campaign.name AS campaign, to_char(to_timestamp(CAST(minutes.minute * 60 AS
    FLOAT(53))) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS minute, minutes.tasks, minutes.work,
    minutes.seconds
FROM campaign
JOIN (SELECT result.campaign_id AS campaign_id, CAST(floor(result.accepted / 60) AS BIGINT) AS minute, count(*)
    AS tasks, sum(task.work) AS work, sum(result.seconds) AS seconds
FROM result
JOIN task ON task.campaign_id = result.campaign_id
AND task.task_index = result.task_index
WHERE (result.voter_id NOT IN (SELECT voter.id
FROM voter
WHERE voter.kind != 'worker'))
GROUP BY CAST(floor(result.accepted / 60) AS BIGINT), result.campaign_id) AS minutes ON minutes.campaign_id =
    campaign.id;

-- Ledger, db.copying.copy, Database
CREATE VIEW lost_time AS SELECT campaign.name AS campaign, lost.outcome, lost.attempts, lost.seconds,
    lost.longest, to_char(to_timestamp(lost.first) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS
    first, to_char(to_timestamp(lost.last) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last
FROM campaign
JOIN (SELECT attempt.campaign_id AS campaign_id, attempt.outcome AS outcome, count(*) AS attempts,
    sum(attempt.ended - coalesce(attempt.began, attempt.granted)) AS seconds, max(attempt.ended -
    coalesce(attempt.began, attempt.granted)) AS longest, min(attempt.ended) AS first, max(attempt.ended) AS
    last
FROM attempt
WHERE attempt.outcome IN ('preempted', 'expired', 'released', 'failed', 'died')
AND NOT (EXISTS (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
AND result.attempt_id = attempt.id))
AND NOT (EXISTS (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = attempt.campaign_id
AND witness.task_index = attempt.task_index
AND witness.attempt_id = attempt.id))
GROUP BY attempt.campaign_id, attempt.outcome) AS lost ON lost.campaign_id = campaign.id;

-- Ledger, db.copying.copy, Database
CREATE VIEW disagreements AS SELECT campaign.name AS campaign, result.task_index AS task, result.doubt,
    result.value AS accepted_value, to_char(to_timestamp(result.accepted) AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS accepted_at, accepted_attempt.worker_id AS accepted_worker,
    accepted_worker.host AS accepted_host, accepted_worker.device_model AS accepted_device,
    accepted_worker.kernels AS accepted_kernels, witness.value AS other_value,
    to_char(to_timestamp(witness.accepted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS other_at,
    other_attempt.worker_id AS other_worker, other_worker.host AS other_host, other_worker.device_model AS
    other_device, other_worker.kernels AS other_kernels, to_char(to_timestamp(voter.distrusted) AT TIME ZONE
    'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS other_distrusted
FROM witness
JOIN result ON result.campaign_id = witness.campaign_id
AND result.task_index = witness.task_index
JOIN campaign ON campaign.id = witness.campaign_id
JOIN attempt AS accepted_attempt ON accepted_attempt.id = result.attempt_id
JOIN worker AS accepted_worker ON accepted_worker.id = accepted_attempt.worker_id
JOIN attempt AS other_attempt ON other_attempt.id = witness.attempt_id
JOIN worker AS other_worker ON other_worker.id = other_attempt.worker_id
LEFT OUTER JOIN voter ON voter.id = other_worker.voter_id
WHERE witness.value != result.value;

-- Ledger, db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (%(uuid)s::VARCHAR, extract(epoch from clock_timestamp()));

-- Ledger.uuid
SELECT ledger.uuid
FROM ledger;

-- Ledger.create_campaign, Ledger.campaign, Ledger.take
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share, campaign.secret
FROM campaign
WHERE campaign.name = %(name_1)s::VARCHAR;

-- Ledger.create_campaign
INSERT INTO campaign (uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share, secret)
VALUES (%(uuid)s::VARCHAR, %(name)s::VARCHAR, %(problem)s::VARCHAR, %(method)s::VARCHAR, %(depth)s::INTEGER,
    %(seed)s::INTEGER, %(tasks)s::INTEGER, %(work)s, extract(epoch from clock_timestamp()), %(recheck_share)s,
    %(secret)s::VARCHAR)
ON CONFLICT DO NOTHING
RETURNING campaign.id;

-- Ledger.create_campaign
INSERT INTO task (task_index, work, campaign_id, state, failures, deaths) SELECT anon_1.task_index, anon_1.work,
    %(param_1)s::INTEGER AS anon_2, %(param_2)s::VARCHAR AS anon_3, %(param_3)s::INTEGER AS anon_4,
    %(deaths)s::INTEGER AS anon_5
FROM json_to_recordset(%(rows)s::JSON) AS anon_1(task_index INTEGER, work FLOAT(53))
WHERE true;

-- Ledger.create_campaign
ANALYZE task;

-- Ledger.create_campaign, LeasedTasks.fail, LeasedTasks.die, Campaign.deliver, Campaign.question,
-- Campaign.judge, Ledger.take
INSERT INTO event (campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, extract(epoch from
    clock_timestamp()), %(kind)s::VARCHAR, %(detail)s::VARCHAR)
RETURNING event.id;

-- Ledger.campaigns, db.copying.copy
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share, campaign.secret
FROM campaign
ORDER BY campaign.id;

-- Ledger.enrol, Campaign.judge, Ledger.take, Ledger.leave
SELECT voter.token
FROM voter
JOIN worker ON worker.voter_id = voter.id
WHERE worker.id = %(worker)s::VARCHAR;

-- Ledger.enrol, Campaign.judge
SELECT voter.id
FROM voter
WHERE voter.host = %(host)s::VARCHAR
AND voter.token = %(token)s::VARCHAR
AND voter.kind = %(kind)s::VARCHAR
AND voter.device_kind = %(device_kind)s::VARCHAR
AND voter.kernels = %(kernels)s::VARCHAR
AND voter.distrusted IS NULL
ORDER BY voter.id
LIMIT %(param_1)s::INTEGER FOR KEY SHARE;

-- Ledger.enrol, Campaign.judge, Ledger.take
INSERT INTO voter (kind, host, token, device_kind, kernels, valid)
VALUES (%(kind)s::VARCHAR, %(host)s::VARCHAR, %(token)s::VARCHAR, %(device_kind)s::VARCHAR,
    %(kernels)s::VARCHAR, %(valid)s::INTEGER)
RETURNING voter.id;

-- Ledger.enrol, Campaign.judge, Ledger.take
INSERT INTO worker (id, host, process, started, device_kind, kernels, voter_id, last_seen, cores, processes,
    device_model, slurm_job, slurm_index)
VALUES (%(id)s::VARCHAR, %(host)s::VARCHAR, %(process)s::VARCHAR, extract(epoch from clock_timestamp()),
    %(device_kind)s::VARCHAR, %(kernels)s::VARCHAR, %(voter_id)s::INTEGER, extract(epoch from
    clock_timestamp()), %(cores)s::INTEGER, %(processes)s::INTEGER, %(device_model)s::VARCHAR,
    %(slurm_job)s::VARCHAR, %(slurm_index)s::INTEGER)
ON CONFLICT DO NOTHING;

-- LeasedTasks.lease, LeasedTasks.renew, LeasedTasks.take_back, LeasedTasks.lease_holders,
-- LeasedTasks.is_worked_at, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.reopen, LeasedTasks.die, LeasedTasks.pace, Campaign.set_recheck_share, Campaign.deliver,
-- Campaign.results, Campaign.question, Campaign.rechecked_tasks, Campaign.judge, Campaign.replication,
-- Campaign.export, Campaign.new_token, Campaign.tokens, Campaign.revoke_token, Campaign.revoke_tokens,
-- Campaign.progress, Campaign.standing, Campaign.overview, Campaign.task_records, Campaign.history,
-- Campaign.cancel, Campaign.rename, Campaign.trusted_export, Campaign.delete
SELECT campaign.uuid
FROM campaign
WHERE campaign.id = %(campaign)s::INTEGER;

-- LeasedTasks.lease
UPDATE attempt
SET deadline=(extract(epoch from clock_timestamp()) + attempt.seconds)
WHERE attempt.ended IS NULL
AND attempt.deadline > extract(epoch from clock_timestamp()) + attempt.seconds + %(param_1)s;

-- LeasedTasks.lease
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.deadline < extract(epoch from clock_timestamp())
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id;

-- LeasedTasks.lease
SELECT voter.host, voter.token, voter.device_kind, voter.kernels, voter.distrusted, campaign.recheck_share AS
    share, EXISTS (SELECT result.task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.doubt IS NOT NULL) AS doubts, EXISTS (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) AS distrust
FROM voter
JOIN worker ON worker.voter_id = voter.id
JOIN campaign ON campaign.id = %(campaign)s::INTEGER
WHERE worker.id = %(worker)s::VARCHAR;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    task.campaign_id, task.task_index, %(worker)s::VARCHAR AS anon_1, %(nonce)s::VARCHAR AS anon_2,
    extract(epoch from clock_timestamp()) AS anon_3, extract(epoch from clock_timestamp()) + %(seconds)s AS
    anon_4, %(seconds)s AS anon_5, false AS anon_6
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND task.state = %(state_1)s::VARCHAR
AND (task.deaths = %(deaths_1)s::INTEGER OR NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
WHERE attempt.campaign_id = task.campaign_id
AND attempt.task_index = task.task_index
AND attempt.outcome = %(outcome_1)s::VARCHAR
AND worker.host = (SELECT worker.host
FROM worker
WHERE worker.id = %(worker)s::VARCHAR))))
ORDER BY task.work DESC
LIMIT %(count)s::INTEGER
FOR UPDATE OF task SKIP LOCKED
RETURNING attempt.task_index, attempt.id;

-- LeasedTasks.lease
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]))
RETURNING task.task_index, task.work;

-- LeasedTasks.lease
UPDATE worker
SET last_seen=extract(epoch from clock_timestamp()), ended=NULL, ending=NULL
WHERE worker.id = %(worker)s::VARCHAR;

-- LeasedTasks.lease, LeasedTasks.take_back, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.die, Campaign.deliver, Campaign.judge, Ledger.take
SELECT task.task_index
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]))
ORDER BY task.task_index
FOR NO KEY UPDATE;

-- LeasedTasks.lease, LeasedTasks.take_back, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.die, Campaign.deliver, Campaign.judge, Ledger.take
UPDATE attempt
SET copied=%(copied)s
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND (attempt.task_index = ANY (%(tasks)s::BIGINT[]))
AND attempt.ended IS NULL
RETURNING attempt.task_index;

-- LeasedTasks.lease, LeasedTasks.take_back, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.die, Campaign.deliver, Campaign.judge, Ledger.take
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]))
AND task.state = %(state_1)s::VARCHAR;

-- LeasedTasks.lease, LeasedTasks.release_worker
UPDATE worker
SET ended=extract(epoch from clock_timestamp()), ending=%(ending)s::VARCHAR
WHERE worker.id = %(worker)s::VARCHAR
AND worker.ended IS NULL
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NULL));

-- LeasedTasks.lease
SELECT attempt.id, attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = %(worker)s::VARCHAR
AND attempt.ended IS NULL;

-- LeasedTasks.lease, LeasedTasks.release, LeasedTasks.fail, LeasedTasks.die, Campaign.deliver, Campaign.judge,
-- Ledger.take
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id;

-- LeasedTasks.renew, LeasedTasks.release, LeasedTasks.fail, LeasedTasks.die
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.worker_id
FROM attempt
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]));

-- LeasedTasks.renew
UPDATE attempt
SET deadline=(extract(epoch from clock_timestamp()) + %(seconds)s), seconds=%(seconds)s
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL;

-- LeasedTasks.renew
SELECT attempt.id
FROM attempt
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL;

-- LeasedTasks.renew
UPDATE attempt
SET steps=%(made)s::BIGINT
WHERE attempt.id = %(attempt)s::INTEGER;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    task.campaign_id, task.task_index, %(worker)s::VARCHAR AS anon_1, %(nonce)s::VARCHAR AS anon_2,
    extract(epoch from clock_timestamp()) AS anon_3, extract(epoch from clock_timestamp()) + %(seconds)s AS
    anon_4, %(seconds)s AS anon_5, false AS anon_6
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND task.state = %(state_1)s::VARCHAR
AND task.deaths > %(deaths_1)s::INTEGER
AND task.deaths < %(deaths_2)s::INTEGER
ORDER BY task.work DESC
LIMIT %(count)s::INTEGER
FOR UPDATE OF task SKIP LOCKED
RETURNING attempt.task_index, attempt.id;

-- LeasedTasks.lease
SELECT task.task_index, task.deaths
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND task.state = %(state_1)s::VARCHAR
AND task.deaths >= %(deaths_1)s::INTEGER;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    task.campaign_id, task.task_index, %(worker)s::VARCHAR AS anon_1, %(nonce)s::VARCHAR AS anon_2,
    extract(epoch from clock_timestamp()) AS anon_3, extract(epoch from clock_timestamp()) + %(seconds)s AS
    anon_4, %(seconds)s AS anon_5, true AS anon_6
FROM task
JOIN attempt ON attempt.campaign_id = task.campaign_id
AND attempt.task_index = task.task_index
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND attempt.ended IS NULL
AND NOT attempt.copied
AND attempt.granted < extract(epoch from clock_timestamp()) - %(param_1)s
AND attempt.worker_id != %(worker)s::VARCHAR
AND task.state = %(state_1)s::VARCHAR
ORDER BY attempt.granted
LIMIT %(count)s::INTEGER
FOR UPDATE OF task SKIP LOCKED
RETURNING attempt.task_index, attempt.id;

-- LeasedTasks.lease
UPDATE attempt
SET copied=%(copied)s
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND (attempt.task_index = ANY (%(tasks)s::BIGINT[]))
AND attempt.ended IS NULL;

-- LeasedTasks.lease
SELECT task.task_index, task.work
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]));

-- LeasedTasks.take_back
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND attempt.worker_id = %(worker)s::VARCHAR
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id;

-- LeasedTasks.take_back, Campaign.cancel
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id;

-- LeasedTasks.lease_holders
SELECT worker.id, worker.host, worker.process
FROM worker
WHERE worker.id IN (SELECT DISTINCT attempt.worker_id
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND attempt.ended IS NULL);

-- LeasedTasks.is_worked_at
SELECT attempt.id
FROM attempt
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND attempt.ended IS NULL
AND attempt.deadline >= extract(epoch from clock_timestamp())
LIMIT %(param_1)s::INTEGER;

-- LeasedTasks.release_worker
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.worker_id = %(worker)s::VARCHAR
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id;

-- LeasedTasks.fail, Campaign.deliver
UPDATE task
SET failures=(task.failures + %(failures_1)s::INTEGER)
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.task_index = %(task_index_1)s::INTEGER;

-- LeasedTasks.fail, Campaign.deliver
SELECT task.failures, task.state
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.task_index = %(task_index_1)s::INTEGER;

-- LeasedTasks.reopen
UPDATE task
SET state=%(state)s::VARCHAR, failures=%(failures)s::INTEGER, deaths=%(deaths)s::INTEGER
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.state = %(state_1)s::VARCHAR;

-- LeasedTasks.die
UPDATE task
SET deaths=(task.deaths + %(deaths_1)s::INTEGER)
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.task_index = %(task_index_1)s::INTEGER;

-- LeasedTasks.die
SELECT task.state, task.deaths
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.task_index = %(task_index_1)s::INTEGER;

-- LeasedTasks.die
SELECT worker.host, max(attempt.id) AS last
FROM worker
JOIN attempt ON attempt.worker_id = worker.id
WHERE attempt.campaign_id = %(campaign)s::INTEGER
AND attempt.task_index = %(task)s::INTEGER
AND attempt.outcome = %(outcome_1)s::VARCHAR
GROUP BY worker.host;

-- LeasedTasks.die
SELECT attempt.note
FROM attempt
WHERE attempt.id = %(id_1)s::INTEGER;

-- LeasedTasks.pace
SELECT attempt.campaign_id, worker.device_kind, result.seconds, task.work
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
JOIN result ON result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
JOIN task ON task.campaign_id = attempt.campaign_id
AND task.task_index = attempt.task_index
WHERE attempt.id > (SELECT max(attempt.id) AS max_1
FROM attempt) - %(param_1)s::INTEGER
AND attempt.outcome = %(outcome_1)s::VARCHAR
AND task.work > %(work_1)s::INTEGER
AND result.seconds <= %(seconds_1)s;

-- Campaign.set_recheck_share, Campaign.delete
LOCK TABLE result IN SHARE ROW EXCLUSIVE MODE;

-- Campaign.set_recheck_share
UPDATE campaign
SET recheck_share=%(recheck_share)s
WHERE campaign.id = %(id_1)s::INTEGER;

-- Campaign.set_recheck_share
UPDATE result
SET listed=%(listed)s
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND NOT result.listed;

-- LeasedTasks.lease
SELECT voter.id
FROM voter
WHERE (voter.kind != %(kind_1)s::VARCHAR OR voter.host != %(host)s::VARCHAR
AND (%(token)s::VARCHAR = %(param_1)s::VARCHAR OR voter.token != %(token)s::VARCHAR))
AND (SELECT min(result.lot) AS min_1
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.voter_id = voter.id
AND result.listed
AND result.confirmed_by IS NULL) < %(share)s
ORDER BY voter.device_kind = %(device)s::VARCHAR
AND voter.kernels = %(kernels)s::VARCHAR, voter.device_kind = %(device)s::VARCHAR, voter.id;

-- Campaign.deliver, Campaign.judge, Ledger.take
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.granted, worker.voter_id,
    (SELECT campaign.recheck_share
FROM campaign
WHERE campaign.id = %(campaign)s::INTEGER) AS share, result.value, result.attempt_id AS by
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
LEFT OUTER JOIN result ON result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]));

-- Campaign.deliver, Campaign.judge, Ledger.take
SELECT voter.id, voter.kind, voter.valid
FROM voter
WHERE (voter.id = ANY (%(voters)s::BIGINT[]));

-- Campaign.deliver
INSERT INTO result (task_index, attempt_id, value, residue, evaluated, seconds, provenance, lot, voter_id,
    campaign_id, accepted, listed) SELECT anon_1.task_index, anon_1.attempt_id, anon_1.value, anon_1.residue,
    anon_1.evaluated, anon_1.seconds, anon_1.provenance, anon_1.lot, anon_1.voter_id, %(campaign)s::INTEGER AS
    anon_2, extract(epoch from clock_timestamp()) AS anon_3, (SELECT campaign.recheck_share >
    %(recheck_share_1)s::INTEGER AS anon_5
FROM campaign
WHERE campaign.id = %(campaign)s::INTEGER) AS anon_4
FROM json_to_recordset(%(rows)s::JSON) AS anon_1(task_index INTEGER, attempt_id INTEGER, value TEXT, residue
    TEXT, evaluated TEXT, seconds FLOAT(53), provenance TEXT, lot FLOAT(53), voter_id INTEGER)
WHERE true
ON CONFLICT DO NOTHING
RETURNING result.task_index;

-- Campaign.deliver
UPDATE attempt
SET began=CASE WHEN (told.began > extract(epoch from clock_timestamp())) THEN extract(epoch from
    clock_timestamp()) ELSE told.began END, ended=extract(epoch from clock_timestamp()),
    outcome=%(outcome)s::VARCHAR
FROM (SELECT anon_1.id AS id, anon_1.began AS began
FROM json_to_recordset(%(rows)s::JSON) AS anon_1(id INTEGER, began FLOAT(53))
WHERE true) AS told
WHERE attempt.id = told.id
AND attempt.ended IS NULL;

-- Campaign.deliver
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]));

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.voter_id = %(voter)s::INTEGER
AND result.listed
AND result.confirmed_by IS NULL
AND result.lot < %(share)s
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = %(kind_1)s::VARCHAR
AND (voter_1.host = %(host)s::VARCHAR OR %(token)s::VARCHAR != %(param_1)s::VARCHAR
AND voter_1.token = %(token)s::VARCHAR) OR attempt.outcome IN (%(outcome_1_1)s::VARCHAR,
    %(outcome_1_2)s::VARCHAR)
AND attempt.worker_id = %(worker)s::VARCHAR)))
ORDER BY result.lot
LIMIT %(count)s::INTEGER
FOR UPDATE OF result SKIP LOCKED;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    result.campaign_id, result.task_index, %(worker)s::VARCHAR AS anon_1, %(nonce)s::VARCHAR AS anon_2,
    extract(epoch from clock_timestamp()) AS anon_3, extract(epoch from clock_timestamp()) + %(seconds)s AS
    anon_4, %(seconds)s AS anon_5, false AS anon_6
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND (result.task_index = ANY (%(tasks)s::BIGINT[]))
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND attempt.ended IS NULL))
RETURNING attempt.task_index, attempt.id;

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
SELECT ledger.uuid
FROM ledger
FOR UPDATE;

-- Campaign.deliver, Campaign.judge, Ledger.take
SELECT witness.attempt_id, witness.value
FROM witness
WHERE (witness.attempt_id = ANY (%(attempts)s::BIGINT[]));

-- Campaign.deliver, Campaign.judge, Ledger.take
UPDATE attempt
SET began=CASE WHEN (told.began > extract(epoch from clock_timestamp())) THEN extract(epoch from
    clock_timestamp()) ELSE told.began END
FROM (SELECT anon_1.id AS id, anon_1.began AS began
FROM json_to_recordset(%(rows)s::JSON) AS anon_1(id INTEGER, began FLOAT(53))
WHERE true) AS told
WHERE attempt.id = told.id;

-- Campaign.deliver, Ledger.take
INSERT INTO witness (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted, lot)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(value)s::VARCHAR,
    %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR, extract(epoch from
    clock_timestamp()), %(lot)s);

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
SELECT result.task_index, result.attempt_id, result.value, result.lot, worker.voter_id, voter.kind, voter.host,
    voter.token, voter.distrusted, attempt.questioned, nullif(%(nullif_1)s::INTEGER, %(nullif_2)s::INTEGER) AS
    witness_id, result.confirmed_by, result.doubt
FROM result
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
JOIN voter ON voter.id = worker.voter_id
WHERE result.campaign_id = %(campaign)s::INTEGER
AND (result.task_index = ANY (%(tasks)s::BIGINT[]))
ORDER BY result.task_index, result.attempt_id;

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
SELECT witness.task_index, witness.attempt_id, witness.value, witness.lot, worker.voter_id, voter.kind,
    voter.host, voter.token, voter.distrusted, attempt.questioned, witness.id AS witness_id
FROM witness
JOIN attempt ON attempt.id = witness.attempt_id
JOIN worker ON worker.id = attempt.worker_id
JOIN voter ON voter.id = worker.voter_id
WHERE witness.campaign_id = %(campaign)s::INTEGER
AND (witness.task_index = ANY (%(tasks)s::BIGINT[]))
ORDER BY witness.task_index, witness.attempt_id;

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
UPDATE result
SET voter_id=%(voter_id)s::INTEGER, confirmed_by=%(confirmed_by)s::INTEGER, doubt=%(doubt)s::VARCHAR,
    lot=%(lot)s
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.task_index = %(task_index_1)s::INTEGER;

-- Campaign.deliver
UPDATE voter
SET valid=(voter.valid + %(valid_1)s::INTEGER)
WHERE voter.id = %(id_1)s::INTEGER;

-- Campaign.deliver, Campaign.judge
INSERT INTO witness (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted, lot)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(value)s::VARCHAR,
    %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR, extract(epoch from
    clock_timestamp()), %(lot)s)
RETURNING witness.id;

-- Campaign.results, Campaign.rechecked_tasks, Campaign.judge, Campaign.progress, Campaign.overview,
-- Campaign.history, Campaign.trusted_export, Campaign.delete
SELECT result.task_index
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.doubt IS NOT NULL
AND result.doubt IN (%(doubt_1_1)s::VARCHAR, %(doubt_1_2)s::VARCHAR);

-- Campaign.results
SELECT event.detail
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER
AND event.task_index = %(task_index_1)s::INTEGER
AND event.kind = %(kind_1)s::VARCHAR
ORDER BY event.id DESC
LIMIT %(param_1)s::INTEGER;

-- Campaign.results, Campaign.overview, Campaign.trusted_export, Campaign.delete
SELECT result.task_index
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.doubt IS NOT NULL
AND result.doubt IN (%(doubt_1_1)s::VARCHAR);

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.doubt IS NOT NULL
AND result.doubt IN (%(doubt_1_1)s::VARCHAR, %(doubt_1_2)s::VARCHAR)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = %(kind_1)s::VARCHAR
AND (voter_1.host = %(host)s::VARCHAR OR %(token)s::VARCHAR != %(param_1)s::VARCHAR
AND voter_1.token = %(token)s::VARCHAR) OR attempt.outcome IN (%(outcome_1_1)s::VARCHAR,
    %(outcome_1_2)s::VARCHAR)
AND attempt.worker_id = %(worker)s::VARCHAR)))
LIMIT %(count)s::INTEGER
FOR UPDATE OF result SKIP LOCKED;

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = %(kind_1)s::VARCHAR
AND (voter_1.host = %(host)s::VARCHAR OR %(token)s::VARCHAR != %(param_1)s::VARCHAR
AND voter_1.token = %(token)s::VARCHAR) OR attempt.outcome IN (%(outcome_1_1)s::VARCHAR,
    %(outcome_1_2)s::VARCHAR)
AND attempt.worker_id = %(worker)s::VARCHAR)))
LIMIT %(count)s::INTEGER
FOR UPDATE OF result SKIP LOCKED;

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < %(share)s
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = %(kind_1)s::VARCHAR
AND (voter_1.host = %(host)s::VARCHAR OR %(token)s::VARCHAR != %(param_1)s::VARCHAR
AND voter_1.token = %(token)s::VARCHAR) OR attempt.outcome IN (%(outcome_1_1)s::VARCHAR,
    %(outcome_1_2)s::VARCHAR)
AND attempt.worker_id = %(worker)s::VARCHAR)))
LIMIT %(count)s::INTEGER
FOR UPDATE OF result SKIP LOCKED;

-- Campaign.deliver, Campaign.judge
SELECT result.attempt_id, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    result.accepted, result.lot
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.task_index = %(task_index_1)s::INTEGER;

-- Campaign.deliver, Campaign.judge
SELECT witness.attempt_id, witness.value, witness.residue, witness.evaluated, witness.seconds,
    witness.provenance, witness.accepted, witness.lot
FROM witness
WHERE witness.id = %(id_1)s::INTEGER;

-- Campaign.deliver, Campaign.judge
UPDATE result
SET attempt_id=%(attempt_id)s::INTEGER, value=%(value)s::VARCHAR, residue=%(residue)s::VARCHAR,
    evaluated=%(evaluated)s::VARCHAR, seconds=%(seconds)s, provenance=%(provenance)s::VARCHAR,
    accepted=%(accepted)s, lot=%(lot)s
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.task_index = %(task_index_1)s::INTEGER;

-- Campaign.deliver, Campaign.judge
UPDATE witness
SET attempt_id=%(attempt_id)s::INTEGER, value=%(value)s::VARCHAR, residue=%(residue)s::VARCHAR,
    evaluated=%(evaluated)s::VARCHAR, seconds=%(seconds)s, provenance=%(provenance)s::VARCHAR,
    accepted=%(accepted)s, lot=%(lot)s
WHERE witness.id = %(id_1)s::INTEGER;

-- Campaign.deliver
UPDATE voter
SET distrusted=extract(epoch from clock_timestamp())
WHERE voter.id = %(id_1)s::INTEGER
AND voter.distrusted IS NULL
RETURNING voter.host, voter.token;

-- Campaign.deliver
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.worker_id IN (SELECT worker.id
FROM worker
WHERE worker.voter_id = %(voter)s::INTEGER)
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id;

-- Campaign.deliver
SELECT DISTINCT witness.campaign_id, witness.task_index
FROM witness
JOIN attempt ON attempt.campaign_id = witness.campaign_id
AND attempt.task_index = witness.task_index
JOIN worker ON worker.id = attempt.worker_id
WHERE worker.voter_id = %(voter_id_1)s::INTEGER;

-- Campaign.results, Campaign.overview, Campaign.trusted_export, Campaign.delete
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL);

-- Campaign.results, Campaign.rechecked_tasks, Campaign.judge, Campaign.replication, Campaign.progress,
-- Campaign.standing, Campaign.overview
SELECT campaign.recheck_share AS share, EXISTS (SELECT result.task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.doubt IS NOT NULL) AS doubts, EXISTS (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) AS distrust
FROM campaign
WHERE campaign.id = %(campaign)s::INTEGER;

-- Campaign.results, Campaign.replication, Campaign.progress, Campaign.overview
SELECT count(*) AS count_1
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.listed
AND result.lot < %(share)s;

-- Campaign.results, Campaign.replication, Campaign.progress, Campaign.overview
SELECT count(*) AS count_1
FROM (SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter)
AND result.listed
AND result.confirmed_by IS NULL
AND result.lot < %(share)s UNION SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < %(share)s) AS anon_1;

-- Campaign.results, Campaign.overview
SELECT result.task_index, result.value, result.residue, result.evaluated
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY result.task_index;

-- Campaign.question
UPDATE attempt
SET questioned=extract(epoch from clock_timestamp())
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND (attempt.id IN (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = %(campaign_id_2)s::INTEGER) OR attempt.id IN (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = %(campaign_id_3)s::INTEGER))
AND attempt.questioned IS NULL
AND (attempt.task_index = ANY (%(tasks)s::BIGINT[]))
RETURNING attempt.task_index;

-- Campaign.question
UPDATE attempt
SET questioned=extract(epoch from clock_timestamp())
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND (attempt.id IN (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = %(campaign_id_2)s::INTEGER) OR attempt.id IN (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = %(campaign_id_3)s::INTEGER))
AND attempt.questioned IS NULL
AND attempt.worker_id IN (SELECT worker.id
FROM worker
WHERE worker.id = %(id_1)s::VARCHAR OR worker.host = %(host_1)s::VARCHAR)
AND (attempt.worker_id IN (SELECT worker.id
FROM worker
WHERE worker.kernels = %(kernels_1)s::VARCHAR) OR attempt.id IN (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = %(campaign_id_4)s::INTEGER
AND (result.provenance LIKE '%%' || %(provenance_1)s::VARCHAR || '%%' ESCAPE '/')) OR attempt.id IN (SELECT
    witness.attempt_id
FROM witness
WHERE witness.campaign_id = %(campaign_id_5)s::INTEGER
AND (witness.provenance LIKE '%%' || %(provenance_2)s::VARCHAR || '%%' ESCAPE '/')))
RETURNING attempt.task_index;

-- Campaign.rechecked_tasks, Campaign.judge
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter)
AND result.listed
AND result.confirmed_by IS NULL
AND result.lot < %(share)s UNION SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.doubt IS NOT NULL
AND result.doubt IN (%(doubt_1_1)s::VARCHAR, %(doubt_1_2)s::VARCHAR) UNION SELECT result.campaign_id,
    result.task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) UNION SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < %(share)s;

-- Campaign.judge
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, copied, note)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(worker_id)s::VARCHAR, %(nonce)s::VARCHAR,
    extract(epoch from clock_timestamp()), extract(epoch from clock_timestamp()), %(copied)s, %(note)s::VARCHAR)
RETURNING attempt.id;

-- Campaign.export, Ledger.take, Campaign.trusted_export, Campaign.delete
SELECT result.task_index, result.value, result.residue, result.evaluated, result.seconds, result.provenance
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY result.task_index;

-- Campaign.export, Campaign.trusted_export, Campaign.delete
SELECT result.task_index, attempt.granted, attempt.began, attempt.ended, worker.id, worker.host,
    worker.device_kind, worker.cores, worker.processes, worker.device_model, worker.slurm_job,
    worker.slurm_index
FROM result
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
JOIN voter ON voter.id = worker.voter_id
WHERE result.campaign_id = %(campaign)s::INTEGER
AND (voter.kind = %(kind_1)s::VARCHAR OR worker.process = %(process_1)s::VARCHAR)
ORDER BY result.task_index;

-- Ledger.take
SELECT attempt.task_index, attempt.note
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND (attempt.note LIKE %(note_1)s::VARCHAR || '%%');

-- Ledger.take
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, copied, note) SELECT
    p0::INTEGER, p1::INTEGER, p2::VARCHAR, p3::VARCHAR, p4::FLOAT(53), p5::FLOAT(53), p6::BOOLEAN, p7::VARCHAR
FROM (VALUES (%(campaign_id__0)s::INTEGER, %(task_index__0)s::INTEGER, %(worker_id__0)s::VARCHAR,
    %(nonce__0)s::VARCHAR, extract(epoch from clock_timestamp()), extract(epoch from clock_timestamp()),
    %(copied__0)s, %(note__0)s::VARCHAR, 0), (%(campaign_id__1)s::INTEGER, %(task_index__1)s::INTEGER,
    %(worker_id__1)s::VARCHAR, %(nonce__1)s::VARCHAR, extract(epoch from clock_timestamp()), extract(epoch from
    clock_timestamp()), %(copied__1)s, %(note__1)s::VARCHAR, 1)) AS imp_sen(p0, p1, p2, p3, p4, p5, p6, p7,
    sen_counter)
ORDER BY sen_counter
RETURNING attempt.id, attempt.id AS id__1;

-- Campaign.new_token
INSERT INTO token (campaign_id, role, digest, created, expires, label)
VALUES (%(campaign_id)s::INTEGER, %(role)s::VARCHAR, %(digest)s::VARCHAR, extract(epoch from clock_timestamp()),
    (extract(epoch from clock_timestamp()) + %(param_1)s), %(label)s::VARCHAR)
RETURNING token.id;

-- Campaign.tokens
SELECT token.id, token.role, token.label, token.created, token.expires
FROM token
WHERE token.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY token.id;

-- Campaign.revoke_token
DELETE
FROM token
WHERE token.campaign_id = %(campaign_id_1)s::INTEGER
AND token.id = %(id_1)s::INTEGER;

-- Campaign.role_of, Ledger.rights
SELECT campaign.uuid, token.role, token.digest
FROM token
JOIN campaign ON campaign.id = token.campaign_id
WHERE (token.digest = ANY (%(digests)s::VARCHAR[]))
AND (token.expires IS NULL OR token.expires > extract(epoch from clock_timestamp()));

-- Ledger.enrol
SELECT count(*) AS count_1
FROM voter
JOIN worker ON worker.voter_id = voter.id
WHERE voter.token = %(token)s::VARCHAR
AND voter.kind = %(kind_1)s::VARCHAR
AND extract(epoch from clock_timestamp()) - %(param_1)s <= coalesce(worker.last_seen, worker.started)
AND (worker.ended IS NULL OR NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id)));

-- Ledger.enrol
SELECT worker.id
FROM voter
JOIN worker ON worker.voter_id = voter.id
WHERE voter.token = %(token)s::VARCHAR
AND voter.kind = %(kind_1)s::VARCHAR
AND extract(epoch from clock_timestamp()) - %(param_1)s > coalesce(worker.last_seen, worker.started)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id))
LIMIT %(param_2)s::INTEGER;

-- Ledger.enrol
SELECT worker.id, worker.voter_id
FROM worker
WHERE (worker.id = ANY (%(workers)s::VARCHAR[]))
ORDER BY worker.id
FOR UPDATE SKIP LOCKED;

-- Ledger.enrol
DELETE
FROM worker
WHERE (worker.id = ANY (%(workers)s::VARCHAR[]))
AND extract(epoch from clock_timestamp()) - %(param_1)s > coalesce(worker.last_seen, worker.started)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id));

-- Ledger.enrol
SELECT voter.id
FROM voter
WHERE (voter.id = ANY (%(voters)s::BIGINT[]))
ORDER BY voter.id
FOR UPDATE SKIP LOCKED;

-- Ledger.enrol
DELETE
FROM voter
WHERE (voter.id = ANY (%(voters)s::BIGINT[]))
AND voter.kind = %(kind_1)s::VARCHAR
AND voter.distrusted IS NULL
AND voter.valid = %(valid_1)s::INTEGER
AND NOT (EXISTS (SELECT worker.id
FROM worker
WHERE worker.voter_id = voter.id))
AND NOT (EXISTS (SELECT result.voter_id
FROM result
WHERE result.voter_id = voter.id))
AND NOT (EXISTS (SELECT result.confirmed_by
FROM result
WHERE result.confirmed_by = voter.id));

-- Campaign.revoke_tokens, Campaign.delete
DELETE
FROM token
WHERE token.campaign_id = %(campaign_id_1)s::INTEGER;

-- EventReader, EventReader.new, LatestEvents.by_kind
SELECT max(event.id) AS max_1
FROM event;

-- EventReader.new
SELECT event.id, event.at, event.kind, event.task_index, event.attempt_id, event.detail
FROM event
WHERE event.id > %(after)s::INTEGER
AND event.campaign_id = %(campaign)s::INTEGER
AND event.kind IN (%(kind_1_1)s::VARCHAR)
ORDER BY event.id;

-- LatestEvents.by_kind
SELECT event.kind, max(event.id) AS max_1
FROM event
WHERE event.id > %(after)s::INTEGER
AND event.campaign_id = %(campaign)s::INTEGER
AND event.kind IN (%(kind_1_1)s::VARCHAR)
GROUP BY event.kind;

-- db.notices.claim, Campaign.history
SELECT extract(epoch from clock_timestamp()) AS anon_1;

-- db.notices.claim
SELECT notice.id, notice.about, notice.tries, notice.next_try, notice.told
FROM notice
WHERE notice.campaign_id = %(campaign)s::INTEGER
AND notice.channel = %(channel)s::VARCHAR
AND notice.kind = %(kind)s::VARCHAR
ORDER BY notice.id;

-- db.notices.claim
INSERT INTO notice (campaign_id, channel, kind, about, tries, next_try)
VALUES (%(campaign_id)s::INTEGER, %(channel)s::VARCHAR, %(kind)s::VARCHAR, %(about)s::BIGINT,
    %(tries)s::INTEGER, (extract(epoch from clock_timestamp()) + %(param_1)s))
RETURNING notice.id;

-- db.notices.not_told
UPDATE notice
SET next_try=(extract(epoch from clock_timestamp()) + %(param_1)s)
WHERE notice.id = %(id_1)s::INTEGER;

-- db.notices.claim
UPDATE notice
SET about=%(about)s::BIGINT, tries=%(tries)s::INTEGER, next_try=(extract(epoch from clock_timestamp()) +
    %(param_1)s)
WHERE notice.id = %(id_1)s::INTEGER;

-- db.notices.told
UPDATE notice
SET told=extract(epoch from clock_timestamp())
WHERE notice.id = %(id_1)s::INTEGER;

-- db.events.between
SELECT event.id, event.at, event.kind, event.task_index, event.attempt_id, event.detail
FROM event
WHERE event.id > %(after)s::INTEGER
AND event.campaign_id = %(campaign)s::INTEGER
AND event.id <= %(last)s::INTEGER
AND event.kind = %(kind)s::VARCHAR
ORDER BY event.id;

-- Campaign.progress, Campaign.standing, Campaign.overview
SELECT task.state, count(*) AS count_1, sum(task.work) AS sum_1
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND task.state IN (%(state_1_1)s::VARCHAR, %(state_1_2)s::VARCHAR, %(state_1_3)s::VARCHAR)
GROUP BY task.state;

-- Campaign.progress, Campaign.standing, Campaign.overview
SELECT count(*) AS count_1
FROM (SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter)
AND result.listed
AND result.confirmed_by IS NULL
AND result.lot < %(share)s UNION SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id = %(campaign)s::INTEGER
AND result.doubt IS NOT NULL
AND result.doubt IN (%(doubt_1_1)s::VARCHAR, %(doubt_1_2)s::VARCHAR) UNION SELECT result.campaign_id AS
    campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) UNION SELECT result.campaign_id AS campaign_id, result.task_index AS
    task_index
FROM result
WHERE result.campaign_id + %(campaign_id_1)s::INTEGER = %(campaign)s::INTEGER
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < %(share)s) AS anon_1;

-- Campaign.progress
SELECT coalesce(attempt.outcome, %(coalesce_2)s::VARCHAR) AS coalesce_1, count(*) AS count_1
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
GROUP BY attempt.outcome;

-- Campaign.progress
SELECT count(*) AS count_1
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER
AND event.kind = %(kind_1)s::VARCHAR;

-- Campaign.progress
SELECT result.seconds, result.evaluated
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.overview
SELECT campaign.name, extract(epoch from clock_timestamp()) AS now
FROM campaign
WHERE campaign.id = %(campaign)s::INTEGER;

-- Campaign.overview
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.kind, voter.distrusted, (SELECT count(*) AS
    count_1
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NOT NULL) AS attempts, (SELECT max(attempt.ended) AS max_1
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NOT NULL) AS last_ended
FROM worker
LEFT OUTER JOIN voter ON voter.id = worker.voter_id
WHERE (SELECT attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = worker.id
ORDER BY attempt.ended
LIMIT %(param_1)s::INTEGER) = %(campaign)s::INTEGER OR (SELECT attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = worker.id
ORDER BY attempt.ended DESC
LIMIT %(param_2)s::INTEGER) = %(campaign)s::INTEGER;

-- Campaign.overview
SELECT attempt.campaign_id, attempt.task_index, attempt.worker_id, task.work, task.state, attempt.granted,
    attempt.steps, attempt.seconds
FROM attempt
JOIN task ON task.campaign_id = attempt.campaign_id
AND task.task_index = attempt.task_index
WHERE attempt.ended IS NULL
AND attempt.deadline > %(deadline_1)s::INTEGER;

-- Campaign.overview
SELECT attempt.worker_id, attempt.outcome, count(*) AS attempts, sum(attempt.ended - coalesce(attempt.began,
    attempt.granted)) AS seconds
FROM attempt
WHERE attempt.ended IS NOT NULL
AND attempt.outcome != %(outcome_1)s::VARCHAR
GROUP BY attempt.worker_id, attempt.outcome;

-- Campaign.overview
SELECT worker.id, (SELECT CASE WHEN (count(*) >= %(count_1)s::INTEGER) THEN sum(task.work) /
    CAST(sum(result.seconds) AS FLOAT(53)) END AS anon_1
FROM (SELECT attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.id AS id
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NOT NULL
ORDER BY attempt.ended DESC
LIMIT %(param_1)s::INTEGER) AS anon_2
JOIN task ON task.campaign_id = anon_2.campaign_id
AND task.task_index = anon_2.task_index
JOIN result ON result.campaign_id = anon_2.campaign_id
AND result.task_index = anon_2.task_index
WHERE anon_2.campaign_id = %(campaign)s::INTEGER
AND result.attempt_id = anon_2.id
AND result.seconds BETWEEN %(seconds_1)s
AND %(seconds_2)s) AS pace
FROM worker
WHERE worker.last_seen > %(since)s
ORDER BY worker.last_seen DESC
LIMIT %(param_2)s::INTEGER;

-- Campaign.overview
SELECT count(event.id) AS count_1
FROM event
WHERE event.campaign_id = %(campaign)s::INTEGER
AND event.kind = %(kind_1)s::VARCHAR;

-- Campaign.overview
WITH RECURSIVE steps(step) AS (SELECT %(param_1)s::INTEGER AS step UNION ALL SELECT steps.step +
    %(step_1)s::INTEGER AS anon_1
FROM steps
WHERE steps.step < %(last)s::INTEGER), points AS (SELECT steps.step AS step, %(start)s + %(width)s * steps.step
    AS at
FROM steps) SELECT points.step, count(*) AS count_1
FROM points
JOIN (SELECT worker.id AS id, worker.started AS started, worker.ended AS ended, (SELECT min(attempt.granted) AS
    min_1
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NULL) AS holds_since
FROM worker
WHERE (worker.id = ANY (%(workers)s::VARCHAR[]))
ORDER BY worker.started
LIMIT %(all)s::INTEGER) AS anon_2 ON anon_2.started <= points.at
AND (anon_2.ended IS NULL OR anon_2.ended >= points.at)
WHERE anon_2.holds_since <= points.at OR (EXISTS (SELECT anon_3.granted
FROM (SELECT attempt.granted AS granted
FROM attempt
WHERE attempt.worker_id = anon_2.id
AND attempt.ended > points.at
ORDER BY attempt.ended
LIMIT %(param_2)s::INTEGER) AS anon_3
WHERE anon_3.granted <= points.at))
GROUP BY points.step;

-- Campaign.overview
SELECT event.at, event.kind, event.task_index, event.detail
FROM event
WHERE event.campaign_id = %(campaign)s::INTEGER
ORDER BY event.id DESC
LIMIT %(param_1)s::INTEGER;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY task.task_index;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.state = %(state_1)s::VARCHAR
ORDER BY task.task_index;

-- Campaign.history
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.kind AS voter_kind, voter.distrusted
FROM worker
LEFT OUTER JOIN voter ON voter.id = worker.voter_id
WHERE worker.id IN (SELECT DISTINCT attempt.worker_id
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER)
ORDER BY worker.started, worker.id;

-- Campaign.history
SELECT result.task_index, result.attempt_id, result.seconds, result.accepted, result.provenance,
    result.confirmed_by IS NOT NULL AS anon_1
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY result.task_index;

-- Campaign.history
SELECT witness.attempt_id, witness.seconds
FROM witness
WHERE witness.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.history
SELECT attempt.id, attempt.task_index, attempt.worker_id, attempt.granted, attempt.began, attempt.ended,
    attempt.outcome, attempt.steps IS NOT NULL AS anon_1
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY attempt.id;

-- Campaign.history
SELECT event.kind, count(*) AS count_1
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER
GROUP BY event.kind;

-- Campaign.history
SELECT event.at, event.kind, event.task_index, event.detail
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER
AND event.kind != %(kind_1)s::VARCHAR
ORDER BY event.id
LIMIT %(param_1)s::INTEGER;

-- Ledger.leave
UPDATE worker
SET last_seen=extract(epoch from clock_timestamp()), ended=extract(epoch from clock_timestamp()),
    ending=%(how)s::VARCHAR
WHERE worker.id = %(worker)s::VARCHAR;

-- Campaign.cancel
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.state = %(state_1)s::VARCHAR;

-- Campaign.rename
LOCK TABLE campaign IN SHARE ROW EXCLUSIVE MODE;

-- Campaign.rename
SELECT campaign.id
FROM campaign
WHERE campaign.name = %(name_1)s::VARCHAR;

-- Campaign.rename
UPDATE campaign
SET name=%(name)s::VARCHAR
WHERE campaign.id = %(id_1)s::INTEGER;

-- Campaign.delete
LOCK TABLE attempt IN SHARE ROW EXCLUSIVE MODE;

-- Campaign.delete
SELECT count(*) AS count_1
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND attempt.ended IS NULL;

-- Campaign.delete
CREATE INDEX leaving_result ON result (attempt_id);

-- Campaign.delete
CREATE INDEX leaving_witness ON witness (attempt_id);

-- Campaign.delete
DELETE
FROM witness
WHERE witness.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.delete
DELETE
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.delete
DELETE
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.delete
DELETE
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.delete
DELETE
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.delete
DELETE
FROM notice
WHERE notice.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.delete
DROP INDEX leaving_result;

-- Campaign.delete
DROP INDEX leaving_witness;

-- Campaign.delete
DELETE
FROM campaign
WHERE campaign.id = %(id_1)s::INTEGER;

-- db.copying.copy
SELECT count(*) AS count_1
FROM attempt
WHERE attempt.ended IS NULL;

-- db.copying.copy
SELECT count(*) AS count_1
FROM campaign;

-- db.copying.copy
DELETE
FROM ledger;

-- db.copying.copy
INSERT INTO campaign (id, uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share, secret)
VALUES (%(id)s::INTEGER, %(uuid)s::VARCHAR, %(name)s::VARCHAR, %(problem)s::VARCHAR, %(method)s::VARCHAR,
    %(depth)s::INTEGER, %(seed)s::INTEGER, %(tasks)s::INTEGER, %(work)s, %(created)s, %(recheck_share)s,
    %(secret)s::VARCHAR);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('campaign', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM campaign), false);

-- db.copying.copy
SELECT ledger.uuid, ledger.created
FROM ledger
ORDER BY ledger.uuid;

-- db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (%(uuid)s::VARCHAR, %(created)s);

-- db.copying.copy
SELECT voter.id, voter.kind, voter.host, voter.token, voter.device_kind, voter.kernels, voter.valid,
    voter.distrusted
FROM voter
ORDER BY voter.id;

-- db.copying.copy
INSERT INTO voter (id, kind, host, token, device_kind, kernels, valid, distrusted)
VALUES (%(id)s::INTEGER, %(kind)s::VARCHAR, %(host)s::VARCHAR, %(token)s::VARCHAR, %(device_kind)s::VARCHAR,
    %(kernels)s::VARCHAR, %(valid)s::INTEGER, %(distrusted)s);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('voter', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM voter), false);

-- db.copying.copy
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index
FROM worker
ORDER BY worker.id;

-- db.copying.copy
INSERT INTO worker (id, host, process, started, device_kind, kernels, voter_id, last_seen, ended, ending, cores,
    processes, device_model, slurm_job, slurm_index)
VALUES (%(id)s::VARCHAR, %(host)s::VARCHAR, %(process)s::VARCHAR, %(started)s, %(device_kind)s::VARCHAR,
    %(kernels)s::VARCHAR, %(voter_id)s::INTEGER, %(last_seen)s, %(ended)s, %(ending)s::VARCHAR,
    %(cores)s::INTEGER, %(processes)s::INTEGER, %(device_model)s::VARCHAR, %(slurm_job)s::VARCHAR,
    %(slurm_index)s::INTEGER);

-- db.copying.copy
SELECT event.id, event.campaign_id, event.task_index, event.attempt_id, event.at, event.kind, event.detail
FROM event
ORDER BY event.id;

-- db.copying.copy
INSERT INTO event (id, campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(at)s,
    %(kind)s::VARCHAR, %(detail)s::VARCHAR);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('event', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM event), false);

-- db.copying.copy
SELECT notice.id, notice.campaign_id, notice.channel, notice.kind, notice.about, notice.tries, notice.next_try,
    notice.told
FROM notice
ORDER BY notice.id;

-- db.copying.copy
INSERT INTO notice (id, campaign_id, channel, kind, about, tries, next_try, told)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(channel)s::VARCHAR, %(kind)s::VARCHAR, %(about)s::BIGINT,
    %(tries)s::INTEGER, %(next_try)s, %(told)s);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('notice', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM notice), false);

-- db.copying.copy
SELECT task.campaign_id, task.task_index, task.work, task.state, task.failures, task.deaths
FROM task
ORDER BY task.campaign_id, task.task_index;

-- db.copying.copy
INSERT INTO task (campaign_id, task_index, work, state, failures, deaths)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(work)s, %(state)s::VARCHAR, %(failures)s::INTEGER,
    %(deaths)s::INTEGER);

-- db.copying.copy
SELECT token.id, token.campaign_id, token.role, token.digest, token.created, token.expires, token.label
FROM token
ORDER BY token.id;

-- db.copying.copy
INSERT INTO token (id, campaign_id, role, digest, created, expires, label)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(role)s::VARCHAR, %(digest)s::VARCHAR, %(created)s,
    %(expires)s, %(label)s::VARCHAR);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('token', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM token), false);

-- db.copying.copy
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id, attempt.nonce, attempt.granted,
    attempt.began, attempt.deadline, attempt.seconds, attempt.copied, attempt.steps, attempt.ended,
    attempt.outcome, attempt.note, attempt.questioned
FROM attempt
ORDER BY attempt.id;

-- db.copying.copy
INSERT INTO attempt (id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, copied,
    steps, ended, outcome, note, questioned)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(worker_id)s::VARCHAR,
    %(nonce)s::VARCHAR, %(granted)s, %(began)s, %(deadline)s, %(seconds)s, %(copied)s, %(steps)s::BIGINT,
    %(ended)s, %(outcome)s::VARCHAR, %(note)s::VARCHAR, %(questioned)s);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('attempt', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM attempt), false);

-- db.copying.copy
SELECT result.campaign_id, result.task_index, result.attempt_id, result.voter_id, result.confirmed_by,
    result.doubt, result.listed, result.value, result.residue, result.evaluated, result.seconds,
    result.provenance, result.accepted, result.lot
FROM result
ORDER BY result.campaign_id, result.task_index;

-- db.copying.copy
INSERT INTO result (campaign_id, task_index, attempt_id, voter_id, confirmed_by, doubt, listed, value, residue,
    evaluated, seconds, provenance, accepted, lot)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(voter_id)s::INTEGER,
    %(confirmed_by)s::INTEGER, %(doubt)s::VARCHAR, %(listed)s, %(value)s::VARCHAR, %(residue)s::VARCHAR,
    %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR, %(accepted)s, %(lot)s);

-- db.copying.copy
SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted, witness.lot
FROM witness
ORDER BY witness.id;

-- db.copying.copy
INSERT INTO witness (id, campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted, lot)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER,
    %(value)s::VARCHAR, %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR,
    %(accepted)s, %(lot)s);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('witness', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM witness), false);

-- Database
DROP VIEW IF EXISTS task_overview;

-- Database
DROP VIEW IF EXISTS worker_overview;

-- Database
DROP VIEW IF EXISTS throughput;

-- Database
DROP VIEW IF EXISTS lost_time;

-- Database
DROP VIEW IF EXISTS disagreements;
