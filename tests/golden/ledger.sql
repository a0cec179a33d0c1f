-- NOW is ((julianday('now') - 2440587.5) * 86400.0) in SQLite, extract(epoch from clock_timestamp()) in Postgres
-- IN :value is IN (SELECT value FROM json_each(:value)) in SQLite, = ANY (:value) in Postgres
-- LIMIT :value is LIMIT :value OFFSET :param in SQLite, LIMIT :value in Postgres

-- attempts.cut_short
  WITH cut_short AS MATERIALIZED (
    SELECT attempt.id AS id, attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.worker_id
      AS worker_id, attempt.outcome AS outcome, attempt.granted AS granted, attempt.began AS began, attempt.ended AS
      ended, attempt.computed AS computed, CASE WHEN (
      (EXISTS (SELECT result.attempt_id FROM result WHERE result.campaign_id = attempt.campaign_id AND
        result.task_index = attempt.task_index AND result.attempt_id = attempt.id)) OR (
        EXISTS (
          SELECT witness.attempt_id
          FROM witness
          WHERE witness.campaign_id = attempt.campaign_id AND witness.task_index = attempt.task_index
          AND witness.attempt_id = attempt.id
        )
      )
    ) THEN :param ELSE :param END AS late
    FROM attempt
    WHERE attempt.outcome IN (:outcome) AND attempt.campaign_id = :campaign
  )
  SELECT cut_short.worker_id, cut_short.outcome, count(*) AS attempts, sum(CASE WHEN (cut_short.late = :late AND
    (cut_short.computed > :computed OR cut_short.outcome IN (:outcome))) THEN :param ELSE :param END) AS lost,
    sum(CASE WHEN (cut_short.late = :late AND (cut_short.computed > :computed OR cut_short.outcome IN (:outcome)))
    THEN coalesce(cut_short.computed, :coalesce) ELSE :param END) AS seconds, sum(CASE WHEN (cut_short.late = :late
    AND cut_short.computed = :computed AND (cut_short.outcome NOT IN (:outcome))) THEN :param ELSE :param END) AS
    unbegun, sum(CASE WHEN (cut_short.late = :late AND cut_short.computed IS NULL AND (cut_short.outcome NOT IN
    (:outcome))) THEN :param ELSE :param END) AS unknown, sum(cut_short.late) AS late, min(
    CASE WHEN (
      CASE WHEN (cut_short.late = :late) THEN (
        SELECT result.accepted
        FROM result
        WHERE result.campaign_id = cut_short.campaign_id AND result.task_index = cut_short.task_index
        AND result.attempt_id = cut_short.id
      ) END IS NOT NULL
    ) THEN coalesce(cut_short.began, cut_short.granted) END
  ) AS began, max(
    CASE WHEN (cut_short.late = :late) THEN (
      SELECT result.accepted
      FROM result
      WHERE result.campaign_id = cut_short.campaign_id AND result.task_index = cut_short.task_index
      AND result.attempt_id = cut_short.id
    ) END
  ) AS arrived
  FROM cut_short
  GROUP BY cut_short.worker_id, cut_short.outcome;
  WITH cut_short AS MATERIALIZED (
    SELECT attempt.id AS id, attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.worker_id
      AS worker_id, attempt.outcome AS outcome, attempt.granted AS granted, attempt.began AS began, attempt.ended AS
      ended, attempt.computed AS computed, CASE WHEN (
      (EXISTS (SELECT result.attempt_id FROM result WHERE result.campaign_id = attempt.campaign_id AND
        result.task_index = attempt.task_index AND result.attempt_id = attempt.id)) OR (
        EXISTS (
          SELECT witness.attempt_id
          FROM witness
          WHERE witness.campaign_id = attempt.campaign_id AND witness.task_index = attempt.task_index
          AND witness.attempt_id = attempt.id
        )
      )
    ) THEN :param ELSE :param END AS late
    FROM attempt
    WHERE attempt.outcome IN (:outcome) AND (attempt.worker_id IN :workers)
    AND attempt.campaign_id + :campaign_id = :campaign
  )
  SELECT cut_short.worker_id, cut_short.outcome, count(*) AS attempts, sum(CASE WHEN (cut_short.late = :late AND
    (cut_short.computed > :computed OR cut_short.outcome IN (:outcome))) THEN :param ELSE :param END) AS lost,
    sum(CASE WHEN (cut_short.late = :late AND (cut_short.computed > :computed OR cut_short.outcome IN (:outcome)))
    THEN coalesce(cut_short.computed, :coalesce) ELSE :param END) AS seconds, sum(CASE WHEN (cut_short.late = :late
    AND cut_short.computed = :computed AND (cut_short.outcome NOT IN (:outcome))) THEN :param ELSE :param END) AS
    unbegun, sum(CASE WHEN (cut_short.late = :late AND cut_short.computed IS NULL AND (cut_short.outcome NOT IN
    (:outcome))) THEN :param ELSE :param END) AS unknown, sum(cut_short.late) AS late, min(
    CASE WHEN (
      CASE WHEN (cut_short.late = :late) THEN (
        SELECT result.accepted
        FROM result
        WHERE result.campaign_id = cut_short.campaign_id AND result.task_index = cut_short.task_index
        AND result.attempt_id = cut_short.id
      ) END IS NOT NULL
    ) THEN coalesce(cut_short.began, cut_short.granted) END
  ) AS began, max(
    CASE WHEN (cut_short.late = :late) THEN (
      SELECT result.accepted
      FROM result
      WHERE result.campaign_id = cut_short.campaign_id AND result.task_index = cut_short.task_index
      AND result.attempt_id = cut_short.id
    ) END
  ) AS arrived
  FROM cut_short
  GROUP BY cut_short.worker_id, cut_short.outcome;

-- attempts.ended
  SELECT attempt.worker_id, count(*) FILTER (WHERE attempt.outcome = :outcome) AS done, count(*) FILTER (WHERE
    attempt.outcome = :outcome) AS further, min(
    coalesce(attempt.began, attempt.granted)
  ) FILTER (
    WHERE attempt.outcome = :outcome
  ) AS began, max(attempt.ended) FILTER (WHERE attempt.outcome = :outcome) AS arrived, count(*) AS attempts
  FROM attempt
  WHERE attempt.campaign_id = :campaign AND attempt.ended IS NOT NULL
  GROUP BY attempt.worker_id;
  SELECT attempt.worker_id, count(*) FILTER (WHERE attempt.outcome = :outcome) AS done, count(*) FILTER (WHERE
    attempt.outcome = :outcome) AS further, min(coalesce(attempt.began, attempt.granted)) FILTER (WHERE
    attempt.outcome = :outcome) AS began, (
    SELECT max(attempt_1.ended) AS max_1
    FROM attempt AS attempt_1
    WHERE attempt_1.worker_id = attempt.worker_id AND attempt_1.outcome = :outcome AND attempt_1.ended IS NOT NULL
  ) AS arrived, count(*) AS attempts
  FROM attempt
  WHERE (attempt.worker_id IN :workers) AND attempt.ended IS NOT NULL
  GROUP BY attempt.worker_id;

-- catalogue.campaign
  SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
  FROM campaign
  WHERE campaign.name = :name;

-- catalogue.campaigns
  SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
  FROM campaign
  ORDER BY campaign.id;

-- catalogue.present
  SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
  FROM campaign
  WHERE campaign.uuid = :uuid;

-- catalogue.require_undeleted
  SELECT campaign.uuid FROM campaign WHERE campaign.id = :campaign;

-- complaints._has_say
  SELECT count(DISTINCT attempt.task_index) AS count_1
  FROM attempt JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
  JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id JOIN result ON result.campaign_id = attempt.campaign_id
  AND result.task_index = attempt.task_index JOIN voter AS voter_2 ON voter_2.id = result.voter_id
  WHERE attempt.campaign_id = :campaign AND attempt.outcome IN (:outcome) AND voter_1.token = :token
  AND (:token != :param OR voter_1.host = :host)
  AND NOT (
    voter_1.id = voter_2.id OR voter_1.kind = :kind AND voter_2.kind = :kind AND voter_1.token = voter_2.token
    AND (voter_1.token != :token OR voter_1.host = voter_2.host)
  );

-- complaints._judge
  SELECT attempt.id, attempt.note, worker.id AS worker, voter.host, voter.token
  FROM attempt JOIN task ON task.campaign_id = attempt.campaign_id AND task.task_index = attempt.task_index
  JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
  WHERE attempt.campaign_id = :campaign AND attempt.outcome IN (:outcome) AND attempt.id > task.retried
  AND attempt.task_index = :task
  ORDER BY attempt.id;

-- complaints.complain
  UPDATE task
  SET failures=(task.failures + :failures)
  WHERE task.campaign_id = :campaign AND task.task_index = :task_index;
  SELECT task.state, task.failures + task.deaths AS anon_1
  FROM task
  WHERE task.campaign_id = :campaign AND task.task_index = :task_index;
  UPDATE task
  SET deaths=(task.deaths + :deaths)
  WHERE task.campaign_id = :campaign AND task.task_index = :task_index;

-- complaints.judge_again
  SELECT task.task_index
  FROM task
  WHERE task.campaign_id = :campaign AND task.state = :state AND task.failures + task.deaths >= :param;

-- computations.contents
  SELECT worker.host, worker.device_kind, worker.cores, worker.processes, worker.device_model, worker.slurm_job,
    worker.slurm_index
  FROM result JOIN attempt ON attempt.id = result.attempt_id JOIN worker ON worker.id = attempt.worker_id
  LEFT OUTER JOIN voter ON voter.id = worker.voter_id
S WHERE result.campaign_id = :campaign AND (result.task_index IN :omitted) = 0
P WHERE result.campaign_id = :campaign AND NOT (result.task_index IN :omitted)
  AND (voter.kind = :kind OR worker.process = :process) AND attempt.ended >= :ended AND attempt.granted >= :granted
  GROUP BY worker.id
  ORDER BY min(result.task_index);
  SELECT DISTINCT result.provenance
  FROM result
S WHERE result.campaign_id = :campaign AND (result.task_index IN :omitted) = 0;
P WHERE result.campaign_id = :campaign AND NOT (result.task_index IN :omitted);
  SELECT count(*) AS count_1
  FROM result
S WHERE result.campaign_id = :campaign AND (result.task_index IN :omitted) = 0;
P WHERE result.campaign_id = :campaign AND NOT (result.task_index IN :omitted);

-- computations.keep, rows.LedgerRows.now
  SELECT NOW AS anon_1;

-- computations.of_results
  SELECT result.task_index, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    voter.kind = :kind OR worker.process = :process AS is_known, attempt.granted, attempt.began, attempt.ended,
    worker.id, worker.host, worker.device_kind, worker.cores, worker.processes, worker.device_model,
    worker.slurm_job, worker.slurm_index
  FROM result LEFT OUTER JOIN attempt ON attempt.id = result.attempt_id
  LEFT OUTER JOIN worker ON worker.id = attempt.worker_id LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  WHERE result.campaign_id = :campaign
  ORDER BY result.task_index;

-- copying._batches
  SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share, campaign.secret
  FROM campaign
  ORDER BY campaign.id;
  SELECT ledger.uuid, ledger.created FROM ledger ORDER BY ledger.uuid;
  SELECT voter.id, voter.kind, voter.host, voter.token, voter.device_kind, voter.kernels, voter.distrusted
  FROM voter
  ORDER BY voter.id;
  SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index
  FROM worker
  ORDER BY worker.id;
  SELECT event.id, event.campaign_id, event.task_index, event.attempt_id, event.at, event.kind, event.detail
  FROM event
  ORDER BY event.id;
  SELECT task.campaign_id, task.task_index, task.work, task.state, task.failures, task.deaths, task.retried
  FROM task
  ORDER BY task.campaign_id, task.task_index;
  SELECT token.id, token.campaign_id, token.role, token.digest, token.created, token.expires, token.label,
    token.fruitless, token.used
  FROM token
  ORDER BY token.id;
  SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id, attempt.nonce, attempt.granted,
    attempt.began, attempt.deadline, attempt.seconds, attempt.copied, attempt.steps, attempt.computed,
    attempt.ended, attempt.outcome, attempt.note, attempt.questioned
  FROM attempt
  ORDER BY attempt.id;
  SELECT result.campaign_id, result.task_index, result.attempt_id, result.voter_id, result.confirmed_by,
    result.doubt, result.drawn, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    result.accepted
  FROM result
  ORDER BY result.campaign_id, result.task_index;
  SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted
  FROM witness
  ORDER BY witness.id;

-- copying._copy_table
  INSERT INTO campaign (id, uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share, secret)
  VALUES (:id, :uuid, :name, :problem, :method, :depth, :seed, :tasks, :work, :created, :recheck_share, :secret);
  INSERT INTO ledger (uuid, created) VALUES (:uuid, :created);
  INSERT INTO voter (id, kind, host, token, device_kind, kernels, distrusted)
  VALUES (:id, :kind, :host, :token, :device_kind, :kernels, :distrusted);
  INSERT INTO worker (
    id, host, process, started, device_kind, kernels, voter_id, last_seen, ended, ending, cores, processes,
      device_model, slurm_job, slurm_index
  )
  VALUES (
    :id, :host, :process, :started, :device_kind, :kernels, :voter_id, :last_seen, :ended, :ending, :cores,
      :processes, :device_model, :slurm_job, :slurm_index
  );
  INSERT INTO event (id, campaign_id, task_index, attempt_id, at, kind, detail)
  VALUES (:id, :campaign_id, :task_index, :attempt_id, :at, :kind, :detail);
  INSERT INTO task (campaign_id, task_index, work, state, failures, deaths, retried)
  VALUES (:campaign_id, :task_index, :work, :state, :failures, :deaths, :retried);
  INSERT INTO token (id, campaign_id, role, digest, created, expires, label, fruitless, used)
  VALUES (:id, :campaign_id, :role, :digest, :created, :expires, :label, :fruitless, :used);
  INSERT INTO attempt (
    id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, copied, steps, computed,
      ended, outcome, note, questioned
  )
  VALUES (
    :id, :campaign_id, :task_index, :worker_id, :nonce, :granted, :began, :deadline, :seconds, :copied, :steps,
      :computed, :ended, :outcome, :note, :questioned
  );
  INSERT INTO result (
    campaign_id, task_index, attempt_id, voter_id, confirmed_by, doubt, drawn, value, residue, evaluated, seconds,
      provenance, accepted
  )
  VALUES (
    :campaign_id, :task_index, :attempt_id, :voter_id, :confirmed_by, :doubt, :drawn, :value, :residue, :evaluated,
      :seconds, :provenance, :accepted
  );
  INSERT INTO witness (
    id, campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance, accepted
  )
  VALUES (
    :id, :campaign_id, :task_index, :attempt_id, :value, :residue, :evaluated, :seconds, :provenance, :accepted
  );

-- copying._release_all
  UPDATE attempt
  SET ended=NOW, outcome=:outcome, note=coalesce(attempt.note, :coalesce)
  WHERE attempt.ended IS NULL;
  UPDATE task SET state=:state WHERE task.state = :state;

-- copying.copy
  SELECT count(*) AS count_1 FROM campaign;
  DELETE FROM ledger;

-- creation._home
P SELECT current_schema(), current_setting('search_path'), current_user;

-- creation._tables
P SELECT nspname, relname
P FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
P WHERE relkind IN ('r', 'p') AND pg_table_is_visible(pg_class.oid) AND NOT starts_with(nspname, 'pg_')
P AND nspname <> 'information_schema';

-- creation.create
  CREATE TABLE campaign (
S    id INTEGER NOT NULL, uuid VARCHAR(36) NOT NULL, name VARCHAR(200) NOT NULL, problem TEXT NOT NULL, method
S     VARCHAR(40) NOT NULL, depth INTEGER NOT NULL, seed INTEGER NOT NULL, tasks INTEGER NOT NULL, work FLOAT NOT
S     NULL, created FLOAT NOT NULL, recheck_share FLOAT NOT NULL, secret VARCHAR(64) NOT NULL, PRIMARY KEY (id),
S     UNIQUE (name)
P    id SERIAL NOT NULL, uuid VARCHAR(36) NOT NULL, name VARCHAR(200) NOT NULL, problem TEXT NOT NULL, method
P     VARCHAR(40) NOT NULL, depth INTEGER NOT NULL, seed INTEGER NOT NULL, tasks INTEGER NOT NULL, work FLOAT(53)
P     NOT NULL, created FLOAT(53) NOT NULL, recheck_share FLOAT(53) NOT NULL, secret VARCHAR(64) NOT NULL, PRIMARY
P     KEY (id), UNIQUE (name)
  );
S CREATE TABLE ledger ( uuid VARCHAR(36) NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (uuid) );
P CREATE TABLE ledger ( uuid VARCHAR(36) NOT NULL, created FLOAT(53) NOT NULL, PRIMARY KEY (uuid) );
  CREATE TABLE voter (
S    id INTEGER NOT NULL, kind VARCHAR(10) NOT NULL, host VARCHAR(255) NOT NULL, token VARCHAR(64) NOT NULL,
S     device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64) NOT NULL, distrusted FLOAT, PRIMARY KEY (id)
P    id SERIAL NOT NULL, kind VARCHAR(10) NOT NULL, host VARCHAR(255) NOT NULL, token VARCHAR(64) NOT NULL,
P     device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64) NOT NULL, distrusted FLOAT(53), PRIMARY KEY (id)
  );
  CREATE INDEX voter_distrusted ON voter (id) WHERE distrusted IS NOT NULL;
  CREATE INDEX voter_identity ON voter (token, host);
  CREATE TABLE worker (
S    id VARCHAR(36) NOT NULL, host VARCHAR(255) NOT NULL, process VARCHAR(80) NOT NULL, started FLOAT NOT NULL,
S     device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64), voter_id INTEGER, last_seen FLOAT, ended FLOAT, ending
S     VARCHAR(12), cores INTEGER, processes INTEGER, device_model VARCHAR(200), slurm_job VARCHAR(40), slurm_index
S     INTEGER, PRIMARY KEY (id)
P    id VARCHAR(36) NOT NULL, host VARCHAR(255) NOT NULL, process VARCHAR(80) NOT NULL, started FLOAT(53) NOT NULL,
P     device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64), voter_id INTEGER, last_seen FLOAT(53), ended FLOAT(53),
P     ending VARCHAR(12), cores INTEGER, processes INTEGER, device_model VARCHAR(200), slurm_job VARCHAR(40),
P     slurm_index INTEGER, PRIMARY KEY (id)
  );
  CREATE INDEX worker_voter ON worker (voter_id);
  CREATE TABLE event (
S    id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER, attempt_id INTEGER, at FLOAT NOT NULL,
S     kind VARCHAR(12) NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id) REFERENCES
P    id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER, attempt_id INTEGER, at FLOAT(53) NOT
P     NULL, kind VARCHAR(12) NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id) REFERENCES
      campaign (id)
  );
  CREATE TABLE task (
S    campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, work FLOAT NOT NULL, state VARCHAR(12) NOT NULL,
P    campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, work FLOAT(53) NOT NULL, state VARCHAR(12) NOT NULL,
      failures INTEGER NOT NULL, deaths INTEGER DEFAULT '0' NOT NULL, retried INTEGER DEFAULT '0' NOT NULL, PRIMARY
      KEY (campaign_id, task_index), FOREIGN KEY(campaign_id) REFERENCES campaign (id)
  );
  CREATE INDEX task_queue ON task (campaign_id, state, work);
  CREATE TABLE token (
S    id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, role VARCHAR(10) NOT NULL, digest VARCHAR(64) NOT NULL,
S     created FLOAT NOT NULL, expires FLOAT, label VARCHAR(100) NOT NULL, fruitless INTEGER DEFAULT '0' NOT NULL,
S     used FLOAT DEFAULT '0' NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id) REFERENCES campaign (id), UNIQUE
S     (digest)
P    id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, role VARCHAR(10) NOT NULL, digest VARCHAR(64) NOT NULL,
P     created FLOAT(53) NOT NULL, expires FLOAT(53), label VARCHAR(100) NOT NULL, fruitless INTEGER DEFAULT '0' NOT
P     NULL, used FLOAT(53) DEFAULT '0' NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id) REFERENCES campaign
P     (id), UNIQUE (digest)
  );
  CREATE TABLE attempt (
S    id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, worker_id VARCHAR(36) NOT NULL,
S     nonce VARCHAR(64), granted FLOAT NOT NULL, began FLOAT, deadline FLOAT NOT NULL, seconds FLOAT, copied BOOLEAN
S     DEFAULT 0 NOT NULL, steps BIGINT, computed FLOAT, ended FLOAT, outcome VARCHAR(12), note TEXT, questioned
S     FLOAT, PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index),
S     FOREIGN KEY(worker_id) REFERENCES worker (id)
P    id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, worker_id VARCHAR(36) NOT NULL,
P     nonce VARCHAR(64), granted FLOAT(53) NOT NULL, began FLOAT(53), deadline FLOAT(53) NOT NULL, seconds
P     FLOAT(53), copied BOOLEAN DEFAULT false NOT NULL, steps BIGINT, computed FLOAT(53), ended FLOAT(53), outcome
P     VARCHAR(12), note TEXT, questioned FLOAT(53), PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index)
P     REFERENCES task (campaign_id, task_index), FOREIGN KEY(worker_id) REFERENCES worker (id)
  );
S CREATE INDEX attempt_alone ON attempt (campaign_id, granted) WHERE ended IS NULL AND copied = 0;
P CREATE INDEX attempt_alone ON attempt (campaign_id, granted) WHERE ended IS NULL AND NOT copied;
  CREATE INDEX attempt_open ON attempt (deadline) WHERE ended IS NULL;
  CREATE INDEX attempt_task ON attempt (campaign_id, task_index);
  CREATE INDEX attempt_worker ON attempt (worker_id, ended, outcome, granted, began, computed);
  CREATE TABLE result (
     campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL, voter_id INTEGER,
      confirmed_by INTEGER, doubt VARCHAR(10), drawn BOOLEAN NOT NULL, value TEXT NOT NULL, residue TEXT NOT NULL,
S     evaluated TEXT NOT NULL, seconds FLOAT NOT NULL, provenance TEXT NOT NULL, accepted FLOAT NOT NULL, PRIMARY
S     KEY (campaign_id, task_index), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index),
S     FOREIGN KEY(attempt_id) REFERENCES attempt (id)
P     evaluated TEXT NOT NULL, seconds FLOAT(53) NOT NULL, provenance TEXT NOT NULL, accepted FLOAT(53) NOT NULL,
P     PRIMARY KEY (campaign_id, task_index), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id,
P     task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id)
  );
  CREATE INDEX result_confirmed ON result (confirmed_by) WHERE confirmed_by IS NOT NULL;
  CREATE INDEX result_doubt ON result (campaign_id, doubt) WHERE doubt IS NOT NULL;
S CREATE INDEX result_drawn ON result (campaign_id, confirmed_by, voter_id) WHERE drawn = 1;
P CREATE INDEX result_drawn ON result (campaign_id, confirmed_by, voter_id) WHERE drawn;
  CREATE INDEX result_voter ON result (voter_id);
  CREATE TABLE witness (
S    id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL,
S     value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT NOT NULL, provenance TEXT
S     NOT NULL, accepted FLOAT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index) REFERENCES task
S     (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id)
P    id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL,
P     value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT(53) NOT NULL, provenance
P     TEXT NOT NULL, accepted FLOAT(53) NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index) REFERENCES
P     task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id)
  );
  CREATE INDEX witness_task ON witness (campaign_id, task_index);
  INSERT INTO ledger (uuid, created) VALUES (:uuid, NOW);

-- creation.require_room
P SELECT current_schema(), current_user, has_schema_privilege(current_schema(), 'CREATE'),
P   current_setting('server_encoding');

-- database.Database.uuid
P SELECT ledger.uuid FROM ledger;

-- database.Database.uuid, transitions.one_at_a_time
S SELECT ledger.uuid FROM ledger;

-- deadlines.Deadlines.cut
  UPDATE attempt
  SET granted=CASE WHEN (attempt.granted > NOW) THEN NOW ELSE attempt.granted END, deadline=(NOW + attempt.seconds)
  WHERE attempt.ended IS NULL AND attempt.deadline > NOW + attempt.seconds + :param;

-- deadlines.pace
  SELECT attempt.campaign_id, worker.device_kind, voter.token, result.seconds, task.work
  FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
  JOIN result ON result.campaign_id = attempt.campaign_id AND result.task_index = attempt.task_index
  JOIN task ON task.campaign_id = attempt.campaign_id AND task.task_index = attempt.task_index
  WHERE attempt.id > (SELECT max(attempt.id) AS max_1 FROM attempt) - :param AND attempt.outcome = :outcome
  AND task.work > :work AND result.seconds <= :seconds;

-- dialects.advance_ids
P SELECT setval(pg_get_serial_sequence('campaign', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM campaign), false);
P SELECT setval(pg_get_serial_sequence('voter', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM voter), false);
P SELECT setval(pg_get_serial_sequence('event', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM event), false);
P SELECT setval(pg_get_serial_sequence('token', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM token), false);
P SELECT setval(pg_get_serial_sequence('attempt', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM attempt), false);
P SELECT setval(pg_get_serial_sequence('witness', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM witness), false);

-- dialects.alone
P SELECT pg_advisory_xact_lock(:pg_advisory_xact_lock) AS pg_advisory_xact_lock_1;

-- dialects.close_to_writers
P LOCK TABLE attempt IN SHARE ROW EXCLUSIVE MODE;
P LOCK TABLE result IN SHARE ROW EXCLUSIVE MODE;
P LOCK TABLE campaign IN SHARE ROW EXCLUSIVE MODE;

-- dialects.update_statistics
P ANALYZE task;

-- draw.draw
  UPDATE result
  SET drawn=:drawn
S WHERE result.campaign_id = :campaign AND (result.task_index IN :tasks) AND result.drawn = 0;
P WHERE result.campaign_id = :campaign AND (result.task_index IN :tasks) AND NOT result.drawn;

-- draw.raise_share
  UPDATE campaign
  SET recheck_share=:recheck_share
  WHERE campaign.id = :campaign AND campaign.recheck_share < :recheck_share
  RETURNING secret;
S SELECT result.task_index FROM result WHERE result.campaign_id = :campaign AND result.drawn = 0;
P SELECT result.task_index FROM result WHERE result.campaign_id = :campaign AND NOT result.drawn;

-- enrolment._trusted_voter
  SELECT voter.id
  FROM voter
  WHERE voter.host = :host AND voter.token = :token AND voter.kind = :kind AND voter.device_kind = :device_kind
  AND voter.kernels = :kernels AND voter.distrusted IS NULL
  ORDER BY voter.id
S LIMIT :param;
P LIMIT :param FOR KEY SHARE;

-- enrolment.insert_worker
  INSERT INTO voter (kind, host, token, device_kind, kernels)
  VALUES (:kind, :host, :token, :device_kind, :kernels)
  RETURNING id;
  INSERT INTO worker (
    id, host, process, started, device_kind, kernels, voter_id, last_seen, cores, processes, device_model,
      slurm_job, slurm_index
  )
  VALUES (
    :id, :host, :process, NOW, :device_kind, :kernels, :voter_id, NOW, :cores, :processes, :device_model,
      :slurm_job, :slurm_index
  )
  ON CONFLICT DO NOTHING;
  INSERT INTO worker (id, host, process, started, device_kind, kernels, voter_id, last_seen)
  VALUES (:id, :host, :process, NOW, :device_kind, :kernels, :voter_id, NOW)
  ON CONFLICT DO NOTHING;

-- enrolment.insert_worker, enrolment.leave
  SELECT voter.token FROM voter JOIN worker ON worker.voter_id = voter.id WHERE worker.id = :worker;

-- enrolment.known
  SELECT campaign.uuid, (
    EXISTS (
      SELECT result.campaign_id, result.task_index
      FROM result
S     WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL
S     AND result.doubt IS NULL
P     WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
    )
  ) OR (EXISTS (SELECT result.campaign_id, result.task_index FROM result WHERE result.campaign_id = :campaign AND
    result.doubt IS NOT NULL AND result.doubt IN (:doubt))) OR (EXISTS (SELECT voter.id FROM voter WHERE
    voter.distrusted IS NOT NULL)) AS may_wait, voter.host, voter.token, voter.device_kind, voter.kernels,
    voter.distrusted, EXISTS (SELECT attempt.id FROM attempt WHERE attempt.deadline < NOW AND attempt.ended IS NULL)
    AS overdue, (
S   SELECT group_concat(attempt.id, ' ') AS anon_1
P   SELECT string_agg(attempt.id::text, ' ') AS anon_1
    FROM attempt
    WHERE attempt.worker_id = :worker AND attempt.ended IS NULL AND attempt.campaign_id + :campaign_id = :campaign
  ) AS running
  FROM campaign LEFT OUTER JOIN worker ON worker.id = :worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  WHERE campaign.id = :campaign;
  SELECT campaign.uuid, (
    EXISTS (
      SELECT result.campaign_id, result.task_index
      FROM result
S     WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL
S     AND result.doubt IS NULL
P     WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
    )
  ) OR (EXISTS (SELECT result.campaign_id, result.task_index FROM result WHERE result.campaign_id = :campaign AND
    result.doubt IS NOT NULL AND result.doubt IN (:doubt))) OR (EXISTS (SELECT voter.id FROM voter WHERE
    voter.distrusted IS NOT NULL)) AS may_wait, voter.host, voter.token, voter.device_kind, voter.kernels,
    voter.distrusted, EXISTS (SELECT attempt.id FROM attempt WHERE attempt.deadline < NOW AND attempt.ended IS NULL)
    AS overdue, (
S   SELECT group_concat(attempt.id, ' ') AS anon_1
P   SELECT string_agg(attempt.id::text, ' ') AS anon_1
    FROM attempt
    WHERE attempt.worker_id = :worker AND attempt.ended IS NULL AND attempt.campaign_id + :campaign_id = :campaign
  ) AS running, token.fruitless, NOW AS now
  FROM campaign LEFT OUTER JOIN worker ON worker.id = :worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  LEFT OUTER JOIN token ON token.campaign_id = campaign.id AND token.digest = :shown
  WHERE campaign.id = :campaign;

-- explanations.of_task
  SELECT task.state, task.work, result.drawn, result.doubt, result.confirmed_by, voter_1.host, worker.id AS worker,
S   worker.host AS "by", result.accepted
P   worker.host AS by, result.accepted
  FROM task LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id AND result.task_index = task.task_index
  LEFT OUTER JOIN voter AS voter_1 ON voter_1.id = result.confirmed_by
  LEFT OUTER JOIN attempt ON attempt.id = result.attempt_id LEFT OUTER JOIN worker ON worker.id = attempt.worker_id
  WHERE task.campaign_id = :campaign AND task.task_index = :task;
  SELECT worker.id, worker.host, attempt.deadline
  FROM worker JOIN attempt ON attempt.worker_id = worker.id
  WHERE attempt.campaign_id = :campaign AND attempt.task_index = :task AND attempt.ended IS NULL
  ORDER BY attempt.id;
  SELECT count(*) AS count_1
  FROM task
  WHERE task.campaign_id = :campaign AND task.state = :state AND task.work > :work;
  SELECT event.detail
  FROM event
  WHERE event.campaign_id = :campaign AND event.kind = :kind AND event.task_index = :task
  ORDER BY event.id DESC
  LIMIT :param;

-- explanations.of_workers
  SELECT worker.id, worker.host, voter.token, voter.distrusted, token.id AS number
  FROM worker JOIN voter ON voter.id = worker.voter_id LEFT OUTER JOIN token ON token.digest = voter.token
  WHERE worker.last_seen > NOW - :param AND worker.last_seen <= NOW + :param AND worker.ended IS NULL
  AND (
    voter.token IN (SELECT token.digest FROM token WHERE token.campaign_id = :campaign) OR voter.token = :token
    AND (
      EXISTS (
        SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id AND attempt.campaign_id = :campaign
      )
    )
  )
  AND voter.kind = :kind
  AND NOT (EXISTS (SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id AND attempt.ended IS NULL))
  ORDER BY worker.started, worker.id;

-- facts.Facts.read
  SELECT campaign.name, campaign.recheck_share, NOW AS now, (
    SELECT count(*) AS count_1
    FROM (SELECT attempt.id AS id FROM attempt WHERE attempt.campaign_id = :campaign LIMIT :param) AS anon_1
  ) AS attempts
  FROM campaign
  WHERE campaign.id = :campaign;

-- gathering._events
  SELECT event.at, event.kind, event.task_index, event.detail
  FROM event
  WHERE event.campaign_id = :campaign
  ORDER BY event.id DESC
  LIMIT :param;

-- history._rows
  SELECT worker.id, worker.host, worker.process, worker.processes, worker.device_model, voter.kind
  FROM worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  WHERE worker.id IN (SELECT DISTINCT attempt.worker_id FROM attempt WHERE attempt.campaign_id = :campaign)
  ORDER BY worker.started, worker.id;

-- history._workers
  SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.distrusted
  FROM worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  WHERE (worker.id IN :workers);

-- history.history
  SELECT event.kind, count(*) AS count_1 FROM event WHERE event.campaign_id = :campaign GROUP BY event.kind;
  SELECT event.at, event.kind, event.task_index, event.detail
  FROM event
  WHERE event.campaign_id = :campaign AND event.kind != :kind
  ORDER BY event.id
  LIMIT :param;

-- holders.holders_in_words
  SELECT worker.id, worker.host, voter.token, count(attempt.id) AS leases
  FROM worker JOIN attempt ON attempt.worker_id = worker.id JOIN voter ON voter.id = worker.voter_id
  WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL
  GROUP BY worker.id, worker.host, voter.token
  ORDER BY count(attempt.id) DESC, worker.id;

-- holders.lease_holders
  SELECT worker.id, worker.host, worker.process, voter.token
  FROM worker JOIN voter ON voter.id = worker.voter_id
  WHERE worker.id IN (
    SELECT DISTINCT attempt.worker_id FROM attempt WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL
  );

-- holders.tokens_in_time
  SELECT DISTINCT voter.token
  FROM voter JOIN worker ON worker.voter_id = voter.id JOIN attempt ON attempt.worker_id = worker.id
  WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL AND attempt.deadline >= NOW
  AND (voter.token = :token OR worker.last_seen > NOW - :param);

-- holding.counted
  SELECT voter.token, count(*) AS number
  FROM voter JOIN worker ON worker.voter_id = voter.id JOIN attempt ON attempt.worker_id = worker.id
  WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL
  GROUP BY voter.token;
  SELECT count(*) AS count_1
  FROM (
    SELECT anon_2.task_index AS task_index
    FROM (
      SELECT task.task_index AS task_index
      FROM task
      WHERE task.campaign_id = :campaign AND task.state IN (:state)
      LIMIT :most
    ) AS anon_2
    UNION ALL
    SELECT anon_3.task_index AS task_index
    FROM (
      SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
      FROM result
S     WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL
S     AND result.doubt IS NULL
P     WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
      LIMIT :most
    ) AS anon_3
    UNION ALL
    SELECT anon_4.task_index AS task_index
    FROM (
      SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
      FROM result
      WHERE result.campaign_id = :campaign AND result.doubt IS NOT NULL AND result.doubt IN (:doubt)
      LIMIT :most
    ) AS anon_4
    UNION ALL
    SELECT anon_5.task_index AS task_index
    FROM (
      SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
      FROM result
      WHERE result.campaign_id + :campaign_id = :campaign
      AND result.voter_id IN (
        SELECT voter.id
        FROM voter JOIN voter AS voter_1 ON voter.id = voter_1.id OR voter.kind = :kind AND voter_1.kind = :kind
        AND voter.token = voter_1.token AND (voter.token != :token OR voter.host = voter_1.host)
        WHERE voter_1.distrusted IS NOT NULL
      )
      AND result.confirmed_by IS NULL AND result.doubt IS NULL
      LIMIT :most
    ) AS anon_5
  ) AS anon_1;

-- holding.fruitless
  SELECT token.fruitless FROM token WHERE token.campaign_id = :campaign AND token.digest = :shown;

-- holding.note
  UPDATE token
  SET fruitless=(CASE WHEN (:brought > :param) THEN :param ELSE token.fruitless END + :new)
  WHERE token.campaign_id = :campaign AND token.digest = :shown;

-- leases.claim
  UPDATE task
  SET state=:state
  WHERE task.campaign_id = :campaign AND (task.task_index IN :tasks)
  RETURNING task_index, work;

-- leases.copy
  UPDATE attempt
  SET copied=:copied
  WHERE attempt.campaign_id = :campaign AND (attempt.task_index IN :tasks) AND attempt.ended IS NULL;
  SELECT held.task_index
  FROM (
    SELECT attempt.task_index AS task_index, attempt.granted AS granted, coalesce(attempt.steps, :coalesce) AS
      steps, voter.token AS token, CASE WHEN (voter.token = :token) THEN attempt.granted ELSE (
      SELECT min(attempt_1.granted) AS min_1
      FROM attempt AS attempt_1 JOIN worker AS worker_1 ON worker_1.id = attempt_1.worker_id
      JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
      WHERE attempt_1.campaign_id = attempt.campaign_id AND attempt_1.task_index = attempt.task_index
      AND voter_1.token = voter.token
    ) END AS since
    FROM attempt JOIN task ON task.campaign_id = attempt.campaign_id AND task.task_index = attempt.task_index
    JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
    WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL
    AND (
S     attempt.copied = 1 OR (
P     attempt.copied OR (
        EXISTS (
          SELECT attempt_2.id
          FROM attempt AS attempt_2
          WHERE attempt_2.campaign_id = attempt.campaign_id AND attempt_2.task_index = attempt.task_index
          AND attempt_2.id < attempt.id AND attempt_2.granted < NOW - :param
        )
      )
    )
    AND attempt.deadline > :deadline AND task.state = :state
  ) AS held
  GROUP BY held.task_index HAVING min(held.since) < NOW - :param
  AND sum(CASE WHEN (held.token = :token) THEN :param ELSE :param END) = :sum
  AND (
    count(DISTINCT held.token) = :count AND min(held.token) != :min OR max(held.since) < NOW - :param
    AND max(held.steps) = :max OR max(held.since) < NOW - :longest
  )
  ORDER BY min(held.granted)
  LIMIT :count;

-- leases.note
  UPDATE attempt
  SET computed=CASE WHEN (
S   said.json_extract_1 <= NOW - attempt.granted
S ) THEN said.json_extract_1 WHEN (NOW - attempt.granted > :param) THEN NOW - attempt.granted ELSE :param END
P   said.computed <= NOW - attempt.granted
P ) THEN said.computed WHEN (NOW - attempt.granted > :param) THEN NOW - attempt.granted ELSE :param END
  FROM (
S   SELECT json_extract(anon_1.value, :json_extract) AS json_extract_2, json_extract(anon_1.value, :json_extract) AS
S     json_extract_1
S   FROM json_each(:rows) AS anon_1
S   WHERE 1 = 1
P   SELECT anon_1.id AS id, anon_1.computed AS computed
P   FROM json_to_recordset(:rows) AS anon_1(id INTEGER, computed FLOAT(53))
P   WHERE true
  ) AS said
S WHERE attempt.id = said.json_extract_2 AND attempt.ended IS NULL
S AND (attempt.computed IS NULL OR attempt.computed < said.json_extract_1);
P WHERE attempt.id = said.id AND attempt.ended IS NULL
P AND (attempt.computed IS NULL OR attempt.computed < said.computed);

-- leases.renew
  UPDATE attempt
  SET deadline=(NOW + :seconds), seconds=:seconds
  WHERE (attempt.id IN :attempts) AND attempt.ended IS NULL;
  SELECT attempt.id FROM attempt WHERE (attempt.id IN :attempts) AND attempt.ended IS NULL;
  UPDATE attempt SET steps=:made WHERE attempt.id = :attempt;

-- leases.task_work
  SELECT task.task_index, task.work FROM task WHERE task.campaign_id = :campaign AND (task.task_index IN :tasks);

-- ledger.Ledger._require_campaign
  INSERT INTO campaign (uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share, secret)
  VALUES (:uuid, :name, :problem, :method, :depth, :seed, :tasks, :work, NOW, :recheck_share, :secret)
  ON CONFLICT DO NOTHING
  RETURNING id;

-- ledger.Ledger.require_writable
S UPDATE attempt SET note=:note WHERE 0 = 1;
P UPDATE attempt SET note=:note WHERE false;

-- lifecycle.cancel
  UPDATE task SET state=:state WHERE task.campaign_id = :campaign AND task.state = :state;

-- lifecycle.close
  SELECT count(*) AS count_1 FROM attempt WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL;

-- lifecycle.remove
  CREATE INDEX leaving_result ON result (attempt_id);
  CREATE INDEX leaving_witness ON witness (attempt_id);
  DELETE FROM witness WHERE witness.campaign_id = :campaign;
  DELETE FROM result WHERE result.campaign_id = :campaign;
  DELETE FROM attempt WHERE attempt.campaign_id = :campaign;
  DELETE FROM task WHERE task.campaign_id = :campaign;
  DELETE FROM event WHERE event.campaign_id = :campaign;
  DROP INDEX leaving_result;
  DROP INDEX leaving_witness;
  DELETE FROM campaign WHERE campaign.id = :campaign;

-- lifecycle.remove, tokens.revoke
  DELETE FROM token WHERE token.campaign_id = :campaign;

-- lifecycle.rename
  SELECT campaign.id FROM campaign WHERE campaign.name = :name;
  UPDATE campaign SET name=:name WHERE campaign.id = :campaign;

-- lifecycle.reopen
  UPDATE task
  SET state=:state, failures=:failures, deaths=:deaths, retried=(
    SELECT coalesce(max(attempt.id), :coalesce) AS coalesce_1 FROM attempt
  )
  WHERE task.campaign_id = :campaign AND task.state = :state;

-- owned.of_deliveries
  SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.granted, NOW - attempt.granted
S   AS age, worker.voter_id, campaign.secret, result.value, result.attempt_id AS "by"
P   AS age, worker.voter_id, campaign.secret, result.value, result.attempt_id AS by
  FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN campaign ON campaign.id = attempt.campaign_id
  LEFT OUTER JOIN result ON result.campaign_id = attempt.campaign_id AND result.task_index = attempt.task_index
  WHERE (attempt.id IN :attempts);

-- owned.shown
  SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.worker_id, attempt.steps, NOW -
    attempt.granted AS age
  FROM attempt
  WHERE (attempt.id IN :attempts);

-- presence.Names.__init__
P SELECT has_column_privilege(
P   :has_column_privilege, :has_column_privilege, :has_column_privilege
P ) AS has_column_privilege_1;
  SELECT token.digest, token.id, token.label FROM token WHERE token.campaign_id = :campaign;

-- presence.Presence.note
  UPDATE worker SET last_seen=NOW, ended=NULL, ending=NULL WHERE worker.id = :worker;

-- presence.leave
  UPDATE worker SET last_seen=NOW, ended=NOW, ending=:how WHERE worker.id = :worker;

-- presence.lose
  UPDATE worker
  SET ended=NOW, ending=:ending
  WHERE worker.id = :worker AND worker.ended IS NULL
  AND NOT (EXISTS (SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id AND attempt.ended IS NULL));

-- presence.processes
  SELECT voter.token, sum(worker.processes) AS sum_1, count(*) - count(worker.processes) AS anon_1
  FROM voter JOIN worker ON worker.voter_id = voter.id
  WHERE worker.last_seen > NOW - :param AND worker.last_seen <= NOW + :param AND worker.ended IS NULL
  AND voter.kind = :kind AND voter.distrusted IS NULL
  AND (
    voter.token IN (SELECT token.digest FROM token WHERE token.campaign_id = :campaign) OR voter.token = :token
    AND (
      EXISTS (
        SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id AND attempt.campaign_id = :campaign
      )
    )
  )
  GROUP BY voter.token;

-- presence.voters
  SELECT DISTINCT voter.host, voter.token
  FROM voter JOIN worker ON worker.voter_id = voter.id
  WHERE worker.last_seen > NOW - :param AND worker.last_seen <= NOW + :param AND worker.ended IS NULL
  AND voter.kind = :kind AND voter.distrusted IS NULL
  AND (
    voter.token IN (SELECT token.digest FROM token WHERE token.campaign_id = :campaign) OR voter.token = :token
    AND (
      EXISTS (
        SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id AND attempt.campaign_id = :campaign
      )
    )
  );

-- progress.confirmations
  SELECT count(*) AS count_1 FROM event WHERE event.campaign_id = :campaign AND event.kind = :kind;

-- progress.results
  SELECT result.task_index, result.value, result.residue, result.evaluated
  FROM result
  WHERE result.campaign_id = :campaign
  ORDER BY result.task_index;

-- progress.seconds
  SELECT coalesce(sum(result.seconds), :coalesce) AS coalesce_1 FROM result WHERE result.campaign_id = :campaign;

-- progress.sizes
  SELECT task.state, task.work, count(*) AS count_1
  FROM task
  WHERE task.campaign_id = :campaign AND task.state IN (:state)
  GROUP BY task.state, task.work
  ORDER BY task.state DESC, task.work DESC
  LIMIT :param;

-- progress.standing
  SELECT task.state, count(*) AS count_1, sum(task.work) AS sum_1
  FROM task
  WHERE task.campaign_id = :campaign AND task.state IN (:state)
  GROUP BY task.state;

-- progress.tasks
  SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
  FROM task LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id AND result.task_index = task.task_index
  WHERE task.campaign_id = :campaign
  ORDER BY task.task_index;
  SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
  FROM task LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id AND result.task_index = task.task_index
  WHERE task.campaign_id = :campaign AND task.state = :state
  ORDER BY task.task_index;

-- pruning.idle
  SELECT worker.id
  FROM voter JOIN worker ON worker.voter_id = voter.id
  WHERE voter.token = :token AND voter.kind = :kind AND NOW - :param > coalesce(worker.last_seen, worker.started)
  AND NOT (EXISTS (SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id))
  LIMIT :param;

-- pruning.is_known
  SELECT worker.id FROM worker WHERE worker.id = :worker;

-- pruning.prune
S SELECT worker.id, worker.voter_id FROM worker WHERE (worker.id IN :workers) ORDER BY worker.id;
P SELECT worker.id, worker.voter_id
P FROM worker
P WHERE (worker.id IN :workers)
P ORDER BY worker.id
P FOR UPDATE SKIP LOCKED;
  DELETE
  FROM worker
  WHERE (worker.id IN :workers) AND NOW - :param > coalesce(worker.last_seen, worker.started)
  AND NOT (EXISTS (SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id));
S SELECT voter.id FROM voter WHERE (voter.id IN :voters) ORDER BY voter.id;
P SELECT voter.id FROM voter WHERE (voter.id IN :voters) ORDER BY voter.id FOR UPDATE SKIP LOCKED;
  DELETE
  FROM voter
  WHERE (voter.id IN :voters) AND voter.kind = :kind AND voter.distrusted IS NULL
  AND NOT (EXISTS (SELECT worker.id FROM worker WHERE worker.voter_id = voter.id))
  AND NOT (EXISTS (SELECT result.voter_id FROM result WHERE result.voter_id = voter.id))
  AND NOT (EXISTS (SELECT result.confirmed_by FROM result WHERE result.confirmed_by = voter.id));

-- pruning.require_room
  SELECT count(*) AS count_1
  FROM voter JOIN worker ON worker.voter_id = voter.id
  WHERE voter.token = :token AND voter.kind = :kind AND NOW - :param <= coalesce(worker.last_seen, worker.started)
  AND (worker.ended IS NULL OR NOT (EXISTS (SELECT attempt.id FROM attempt WHERE attempt.worker_id = worker.id)));

-- rechecks._rechecks
  SELECT result.campaign_id, result.task_index
  FROM result
  WHERE result.campaign_id = :campaign AND result.doubt IS NOT NULL AND result.doubt IN (:doubt)
  AND NOT (
    EXISTS (
      SELECT attempt.id
      FROM attempt JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
      JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
      LEFT OUTER JOIN witness ON witness.campaign_id = attempt.campaign_id
      AND witness.task_index = attempt.task_index AND witness.attempt_id = attempt.id
      WHERE attempt.campaign_id = result.campaign_id AND attempt.task_index = result.task_index
      AND (
        attempt.ended IS NULL
        AND CASE WHEN (voter_1.token = :token) THEN attempt.granted ELSE (
          SELECT min(attempt_1.granted) AS min_1
          FROM attempt AS attempt_1 JOIN worker AS worker_2 ON worker_2.id = attempt_1.worker_id
          JOIN voter AS voter_2 ON voter_2.id = worker_2.voter_id
          WHERE attempt_1.campaign_id = attempt.campaign_id AND attempt_1.task_index = attempt.task_index
          AND voter_2.token = voter_1.token
        ) END > NOW - :longest OR voter_1.token = :token
        AND (:token != :param OR voter_1.host = :host)
        AND (
          attempt.ended IS NULL OR (attempt.id = result.attempt_id OR witness.id IS NOT NULL)
          AND attempt.questioned IS NULL AND voter_1.distrusted IS NULL AND voter_1.kind = :kind
        ) OR attempt.outcome IN (:outcome)
        AND attempt.worker_id = :worker
      )
    )
  )
S LIMIT :count;
P LIMIT :count
P FOR UPDATE OF result SKIP LOCKED;
  SELECT result.campaign_id, result.task_index
  FROM result
  WHERE result.campaign_id + :campaign_id = :campaign
  AND result.voter_id IN (
    SELECT voter.id
    FROM voter JOIN voter AS voter_1 ON voter.id = voter_1.id OR voter.kind = :kind AND voter_1.kind = :kind
    AND voter.token = voter_1.token AND (voter.token != :token OR voter.host = voter_1.host)
    WHERE voter_1.distrusted IS NOT NULL
  )
  AND result.confirmed_by IS NULL AND result.doubt IS NULL
  AND NOT (
    EXISTS (
      SELECT attempt.id
      FROM attempt JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
      JOIN voter AS voter_2 ON voter_2.id = worker_1.voter_id
      LEFT OUTER JOIN witness ON witness.campaign_id = attempt.campaign_id
      AND witness.task_index = attempt.task_index AND witness.attempt_id = attempt.id
      WHERE attempt.campaign_id = result.campaign_id AND attempt.task_index = result.task_index
      AND (
        attempt.ended IS NULL
        AND CASE WHEN (voter_2.token = :token) THEN attempt.granted ELSE (
          SELECT min(attempt_1.granted) AS min_1
          FROM attempt AS attempt_1 JOIN worker AS worker_2 ON worker_2.id = attempt_1.worker_id
          JOIN voter AS voter_3 ON voter_3.id = worker_2.voter_id
          WHERE attempt_1.campaign_id = attempt.campaign_id AND attempt_1.task_index = attempt.task_index
          AND voter_3.token = voter_2.token
        ) END > NOW - :longest OR voter_2.token = :token
        AND (:token != :param OR voter_2.host = :host)
        AND (
          attempt.ended IS NULL OR (attempt.id = result.attempt_id OR witness.id IS NOT NULL)
          AND attempt.questioned IS NULL AND voter_2.distrusted IS NULL AND voter_2.kind = :kind
        ) OR attempt.outcome IN (:outcome)
        AND attempt.worker_id = :worker
      )
    )
  )
S LIMIT :count;
P LIMIT :count
P FOR UPDATE OF result SKIP LOCKED;
  SELECT voter.id
  FROM voter
  WHERE (
    voter.kind != :kind OR voter.distrusted IS NOT NULL OR NOT (
      voter.token = :token AND (:token != :param OR voter.host = :host)
    )
  )
  AND (
    EXISTS (
      SELECT result.campaign_id, result.task_index
      FROM result
S     WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL
S     AND result.doubt IS NULL AND result.voter_id = voter.id
P     WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
P     AND result.voter_id = voter.id
    )
  )
  ORDER BY voter.device_kind = :device AND voter.kernels = :kernels, voter.device_kind = :device, voter.id;
  SELECT result.campaign_id, result.task_index
  FROM result
S WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL AND result.doubt IS NULL
P WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
  AND result.voter_id = :voter
  AND NOT (
    EXISTS (
      SELECT attempt.id
      FROM attempt JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
      JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
      LEFT OUTER JOIN witness ON witness.campaign_id = attempt.campaign_id
      AND witness.task_index = attempt.task_index AND witness.attempt_id = attempt.id
      WHERE attempt.campaign_id = result.campaign_id AND attempt.task_index = result.task_index
      AND (
        attempt.ended IS NULL
        AND CASE WHEN (voter_1.token = :token) THEN attempt.granted ELSE (
          SELECT min(attempt_1.granted) AS min_1
          FROM attempt AS attempt_1 JOIN worker AS worker_2 ON worker_2.id = attempt_1.worker_id
          JOIN voter AS voter_2 ON voter_2.id = worker_2.voter_id
          WHERE attempt_1.campaign_id = attempt.campaign_id AND attempt_1.task_index = attempt.task_index
          AND voter_2.token = voter_1.token
        ) END > NOW - :longest OR voter_1.token = :token
        AND (:token != :param OR voter_1.host = :host)
        AND (
          attempt.ended IS NULL OR (attempt.id = result.attempt_id OR witness.id IS NOT NULL)
          AND attempt.questioned IS NULL AND voter_1.distrusted IS NULL AND voter_1.kind = :kind
        ) OR attempt.outcome IN (:outcome)
        AND attempt.worker_id = :worker
      )
    )
  )
S LIMIT :count;
P LIMIT :count
P FOR UPDATE OF result SKIP LOCKED;

-- results.complete
  UPDATE attempt
S SET began=CASE WHEN (reported.json_extract_1 > NOW) THEN NOW ELSE reported.json_extract_1 END,
S   computed=reported.json_extract_2, ended=coalesce(attempt.ended, NOW), outcome=CASE WHEN (attempt.ended IS NULL)
S   THEN :param ELSE attempt.outcome END
P SET began=CASE WHEN (reported.began > NOW) THEN NOW ELSE reported.began END, computed=reported.computed,
P   ended=coalesce(attempt.ended, NOW), outcome=CASE WHEN (attempt.ended IS NULL) THEN :param ELSE attempt.outcome
P   END
  FROM (
S   SELECT json_extract(anon_1.value, :json_extract) AS json_extract_3, json_extract(anon_1.value, :json_extract) AS
S     json_extract_1, json_extract(anon_1.value, :json_extract) AS json_extract_2
S   FROM json_each(:rows) AS anon_1
S   WHERE 1 = 1
P   SELECT anon_1.id AS id, anon_1.began AS began, anon_1.computed AS computed
P   FROM json_to_recordset(:rows) AS anon_1(id INTEGER, began FLOAT(53), computed FLOAT(53))
P   WHERE true
  ) AS reported
S WHERE attempt.id = reported.json_extract_3;
P WHERE attempt.id = reported.id;

-- results.insert
  INSERT INTO result (
    task_index, attempt_id, value, residue, evaluated, seconds, provenance, voter_id, campaign_id, accepted, drawn
  )
S SELECT taken.json_extract_1, taken.json_extract_2, taken.json_extract_3, taken.json_extract_4,
S   taken.json_extract_5, taken.json_extract_6, taken.json_extract_7, taken.json_extract_8, :campaign AS anon_1, NOW
S   AS anon_2, taken.json_extract_9 < (
P SELECT taken.task_index, taken.attempt_id, taken.value, taken.residue, taken.evaluated, taken.seconds,
P   taken.provenance, taken.voter_id, :campaign AS anon_1, NOW AS anon_2, taken.lot < (
    SELECT campaign.recheck_share FROM campaign WHERE campaign.id = :campaign
  ) AS anon_3
  FROM (
S   SELECT json_extract(anon_4.value, :json_extract) AS json_extract_1, json_extract(anon_4.value, :json_extract) AS
S     json_extract_2, json_extract(anon_4.value, :json_extract) AS json_extract_3, json_extract(anon_4.value,
S     :json_extract) AS json_extract_4, json_extract(anon_4.value, :json_extract) AS json_extract_5,
S     json_extract(anon_4.value, :json_extract) AS json_extract_6, json_extract(anon_4.value, :json_extract) AS
S     json_extract_7, json_extract(anon_4.value, :json_extract) AS json_extract_8, json_extract(anon_4.value,
S     :json_extract) AS json_extract_9
S   FROM json_each(:rows) AS anon_4
S   WHERE 1 = 1
P   SELECT anon_4.task_index AS task_index, anon_4.attempt_id AS attempt_id, anon_4.value AS value, anon_4.residue
P     AS residue, anon_4.evaluated AS evaluated, anon_4.seconds AS seconds, anon_4.provenance AS provenance,
P     anon_4.voter_id AS voter_id, anon_4.lot AS lot
P   FROM json_to_recordset(:rows) AS anon_4(
P     task_index INTEGER, attempt_id INTEGER, value TEXT, residue TEXT, evaluated TEXT, seconds FLOAT(53),
P       provenance TEXT, voter_id INTEGER, lot FLOAT(53)
P   )
P   WHERE true
  ) AS taken
S WHERE 1 = 1
P WHERE true
  ON CONFLICT DO NOTHING
  RETURNING task_index;

-- results.note_times
  UPDATE attempt
S SET began=CASE WHEN (reported.json_extract_1 > NOW) THEN NOW ELSE reported.json_extract_1 END,
S   computed=reported.json_extract_2
P SET began=CASE WHEN (reported.began > NOW) THEN NOW ELSE reported.began END, computed=reported.computed
  FROM (
S   SELECT json_extract(anon_1.value, :json_extract) AS json_extract_3, json_extract(anon_1.value, :json_extract) AS
S     json_extract_1, json_extract(anon_1.value, :json_extract) AS json_extract_2
S   FROM json_each(:rows) AS anon_1
S   WHERE 1 = 1
P   SELECT anon_1.id AS id, anon_1.began AS began, anon_1.computed AS computed
P   FROM json_to_recordset(:rows) AS anon_1(id INTEGER, began FLOAT(53), computed FLOAT(53))
P   WHERE true
  ) AS reported
S WHERE attempt.id = reported.json_extract_3;
P WHERE attempt.id = reported.id;

-- results.origins
  SELECT attempt.task_index, attempt.note
  FROM attempt
S WHERE attempt.campaign_id = :campaign AND (attempt.task_index IN :tasks) AND (attempt.note LIKE :note || '%');
P WHERE attempt.campaign_id = :campaign AND (attempt.task_index IN :tasks) AND (attempt.note LIKE :note || '%%');
  SELECT result.task_index, result.value, result.residue, result.evaluated, result.seconds, result.provenance
  FROM result
  WHERE result.campaign_id = :campaign AND (result.task_index IN :tasks);

-- results.start
  INSERT INTO attempt (task_index, note, campaign_id, worker_id, nonce, granted, deadline, copied)
S SELECT json_extract(anon_1.value, :json_extract) AS json_extract_1, json_extract(anon_1.value, :json_extract) AS
S   json_extract_3, :campaign AS anon_2, :worker AS anon_3, :nonce AS anon_4, NOW AS anon_5, NOW AS anon_6, 0 AS
S   anon_7
S FROM json_each(:rows) AS anon_1
S WHERE 1 = 1
P SELECT anon_1.task_index, anon_1.note, :campaign AS anon_2, :worker AS anon_3, :nonce AS anon_4, NOW AS anon_5,
P   NOW AS anon_6, false AS anon_7
P FROM json_to_recordset(:rows) AS anon_1(task_index INTEGER, note TEXT)
P WHERE true
  RETURNING task_index, id;

-- rows.LedgerRows.bounds
  SELECT count(*) AS count_1 FROM result WHERE result.campaign_id = :campaign;
  SELECT by_time.place, by_time.seconds
  FROM (
    SELECT result.seconds AS seconds, row_number() OVER (ORDER BY result.seconds) AS place
    FROM result
    WHERE result.campaign_id = :campaign
  ) AS by_time
  WHERE (by_time.place IN :places);

-- rows.LedgerRows.further
  SELECT attempt.worker_id, count(*) AS count_1, sum(witness.seconds) AS sum_1
  FROM witness JOIN attempt ON attempt.id = witness.attempt_id
  WHERE witness.campaign_id = :campaign
  GROUP BY attempt.worker_id;

-- rows.LedgerRows.last_held
  SELECT max(attempt.ended) AS max_1, count(*) - count(attempt.ended) AS anon_1, count(*) AS count_1
  FROM attempt
S WHERE attempt.campaign_id = :campaign AND (attempt.worker_id IN :left_out) = 0;
P WHERE attempt.campaign_id = :campaign AND NOT (attempt.worker_id IN :left_out);

-- rows.LedgerRows.results
  SELECT result.task_index, result.seconds, result.accepted, attempt.ended, result.confirmed_by IS NOT NULL AS
    anon_1, result.provenance, attempt.worker_id
  FROM result JOIN attempt ON attempt.id = result.attempt_id
  WHERE result.campaign_id = :campaign
  ORDER BY result.task_index;

-- rows.LedgerRows.spans
  SELECT attempt.worker_id, attempt.granted, attempt.ended, attempt.began, attempt.computed
  FROM attempt
S WHERE attempt.campaign_id = :campaign AND (attempt.worker_id IN :left_out) = 0
P WHERE attempt.campaign_id = :campaign AND NOT (attempt.worker_id IN :left_out)
  ORDER BY attempt.granted;

-- tokens.charge
  UPDATE token SET used=(token.used + :seconds) WHERE token.digest = :shown;

-- tokens.extend
  UPDATE token
  SET expires=CASE WHEN (token.expires < NOW + :param) THEN NOW + :param ELSE token.expires END
  WHERE token.campaign_id = :campaign AND token.digest = :digest;

-- tokens.listed
  SELECT token.id, token.role, token.label, token.created, token.expires, token.used, (SELECT count(*) AS count_1
    FROM worker JOIN voter ON voter.id = worker.voter_id WHERE voter.token = token.digest) AS workers, (SELECT
    count(*) AS count_2 FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id =
    worker.voter_id WHERE attempt.campaign_id = token.campaign_id AND voter.token = token.digest AND attempt.ended
    IS NULL) AS running, (SELECT count(*) AS count_3 FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN
    voter ON voter.id = worker.voter_id WHERE attempt.campaign_id = token.campaign_id AND voter.token =
    token.digest) AS granted, (
    SELECT count(*) AS count_4
    FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
    WHERE attempt.campaign_id = token.campaign_id AND voter.token = token.digest AND attempt.outcome IN (:outcome)
  ) AS results, (
    SELECT count(*) AS count_5
    FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
    WHERE attempt.campaign_id = token.campaign_id AND voter.token = token.digest AND attempt.outcome IN (:outcome)
  ) AS failures
  FROM token
  WHERE token.campaign_id = :campaign
  ORDER BY token.id;

-- tokens.new_token
  INSERT INTO token (campaign_id, role, digest, created, expires, label, fruitless, used)
S VALUES (:campaign_id, :role, :digest, NOW, (NOW + :param), :label, :fruitless, :used);
P VALUES (:campaign_id, :role, :digest, NOW, (NOW + :param), :label, :fruitless, :used)
P RETURNING id;
  INSERT INTO token (campaign_id, role, digest, created, expires, label, fruitless, used)
S VALUES (:campaign_id, :role, :digest, NOW, :expires, :label, :fruitless, :used);
P VALUES (:campaign_id, :role, :digest, NOW, :expires, :label, :fruitless, :used)
P RETURNING id;

-- tokens.revoke
  SELECT token.digest FROM token WHERE token.campaign_id = :campaign AND token.id = :id;
  DELETE FROM token WHERE token.campaign_id = :campaign AND token.id = :id;
  SELECT token.digest FROM token WHERE token.campaign_id = :campaign;

-- tokens.rights
  SELECT campaign.uuid, token.role, token.digest, token.id
  FROM token JOIN campaign ON campaign.id = token.campaign_id
  WHERE (token.digest IN :digests) AND (token.expires IS NULL OR token.expires > NOW);

-- transitions._leave
  SELECT task.task_index
  FROM task
  WHERE task.campaign_id = :campaign AND (task.task_index IN :tasks)
S ORDER BY task.task_index;
P ORDER BY task.task_index
P FOR NO KEY UPDATE;
  UPDATE attempt
  SET copied=(
    EXISTS (
      SELECT attempt_1.id
      FROM attempt AS attempt_1
      WHERE attempt_1.campaign_id = attempt.campaign_id AND attempt_1.task_index = attempt.task_index
      AND attempt_1.ended IS NULL AND attempt_1.id != attempt.id
    )
  )
  WHERE attempt.campaign_id = :campaign AND (attempt.task_index IN :tasks) AND attempt.ended IS NULL
  RETURNING task_index;

-- transitions.end
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE attempt.deadline < NOW AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE (attempt.id IN :attempts) AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE attempt.campaign_id = :campaign AND attempt.worker_id = :worker AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE attempt.worker_id = :worker AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE attempt.worker_id IN (SELECT worker.id FROM worker WHERE worker.voter_id = :voter) AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;
  UPDATE attempt
  SET ended=NOW, outcome=:how, note=coalesce(:why, attempt.note)
  WHERE attempt.campaign_id = :campaign
  AND attempt.worker_id IN (
    SELECT worker.id FROM worker JOIN voter ON voter.id = worker.voter_id WHERE voter.token = :shown
  )
  AND attempt.ended IS NULL
  RETURNING id, campaign_id, task_index, worker_id;

-- transitions.grant
  INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied)
  SELECT task.campaign_id, task.task_index, :worker AS anon_1, :nonce AS anon_2, NOW AS anon_3, NOW + :seconds AS
S   anon_4, :seconds AS anon_5, 0 AS anon_6
P   anon_4, :seconds AS anon_5, false AS anon_6
  FROM task
  WHERE task.campaign_id = :campaign AND task.state = :state
  AND CASE WHEN (task.deaths + task.failures > :param) THEN (
    SELECT count(*) AS count_1
    FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
    WHERE attempt.campaign_id = task.campaign_id AND attempt.task_index = task.task_index
    AND attempt.outcome IN (:outcome) AND attempt.id > task.retried AND voter.host = :host AND voter.token = :token
S ) < CASE WHEN (task.deaths > :deaths) THEN :param ELSE :param END ELSE 1 END = 1
P ) < CASE WHEN (task.deaths > :deaths) THEN :param ELSE :param END ELSE true END
  ORDER BY task.work DESC
  LIMIT :count
P FOR UPDATE OF task SKIP LOCKED
  RETURNING task_index, id;
  INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied)
  SELECT task.campaign_id, task.task_index, :worker AS anon_1, :nonce AS anon_2, NOW AS anon_3, NOW + :seconds AS
S   anon_4, :seconds AS anon_5, 0 AS anon_6
P   anon_4, :seconds AS anon_5, false AS anon_6
  FROM task
  WHERE task.campaign_id = :campaign AND task.state = :state AND task.deaths > :deaths
  AND (
    SELECT count(*) AS count_1
    FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
    WHERE attempt.campaign_id = task.campaign_id AND attempt.task_index = task.task_index
    AND attempt.outcome IN (:outcome) AND attempt.id > task.retried AND voter.host = :host AND voter.token = :token
  ) < :param
  ORDER BY task.work DESC
  LIMIT :count
P FOR UPDATE OF task SKIP LOCKED
  RETURNING task_index, id;
  INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied)
  SELECT task.campaign_id, task.task_index, :worker AS anon_1, :nonce AS anon_2, NOW AS anon_3, NOW + :seconds AS
S   anon_4, :seconds AS anon_5, 1 AS anon_6
P   anon_4, :seconds AS anon_5, true AS anon_6
  FROM task JOIN attempt ON attempt.campaign_id = task.campaign_id AND attempt.task_index = task.task_index
S WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL AND attempt.copied = 0
P WHERE attempt.campaign_id = :campaign AND attempt.ended IS NULL AND NOT attempt.copied
  AND attempt.granted < NOW - :param AND attempt.worker_id != :worker AND task.state = :state
  AND CASE WHEN (task.deaths + task.failures > :param) THEN (
    SELECT count(*) AS count_1
    FROM attempt JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
    WHERE attempt.campaign_id = task.campaign_id AND attempt.task_index = task.task_index
    AND attempt.outcome IN (:outcome) AND attempt.id > task.retried AND voter.host = :host AND voter.token = :token
S ) < :param ELSE 1 END = 1
P ) < :param ELSE true END
  ORDER BY attempt.granted
  LIMIT :count
P FOR UPDATE OF task SKIP LOCKED
  RETURNING task_index, id;
  INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied)
  SELECT result.campaign_id, result.task_index, :worker AS anon_1, :nonce AS anon_2, NOW AS anon_3, NOW + :seconds
S   AS anon_4, :seconds AS anon_5, 0 AS anon_6
P   AS anon_4, :seconds AS anon_5, false AS anon_6
  FROM result
  WHERE result.campaign_id = :campaign AND (result.task_index IN :tasks)
  AND NOT (
    EXISTS (
      SELECT attempt.id
      FROM attempt JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
      JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
      WHERE attempt.campaign_id = result.campaign_id AND attempt.task_index = result.task_index
      AND attempt.ended IS NULL
      AND CASE WHEN (voter_1.token = :token) THEN attempt.granted ELSE (
        SELECT min(attempt_1.granted) AS min_1
        FROM attempt AS attempt_1 JOIN worker AS worker_2 ON worker_2.id = attempt_1.worker_id
        JOIN voter AS voter_2 ON voter_2.id = worker_2.voter_id
        WHERE attempt_1.campaign_id = attempt.campaign_id AND attempt_1.task_index = attempt.task_index
        AND voter_2.token = voter_1.token
      ) END > NOW - :longest
    )
  )
  RETURNING task_index, id;

-- transitions.insert_tasks
  INSERT INTO task (task_index, work, campaign_id, state, failures, deaths, retried)
S SELECT json_extract(anon_1.value, :json_extract) AS json_extract_1, json_extract(anon_1.value, :json_extract) AS
S   json_extract_3, :param AS anon_2, :param AS anon_3, :param AS anon_4, :deaths AS anon_5, :retried AS anon_6
S FROM json_each(:rows) AS anon_1
S WHERE 1 = 1;
P SELECT anon_1.task_index, anon_1.work, :param AS anon_2, :param AS anon_3, :param AS anon_4, :deaths AS anon_5,
P   :retried AS anon_6
P FROM json_to_recordset(:rows) AS anon_1(task_index INTEGER, work FLOAT(53))
P WHERE true;

-- transitions.one_at_a_time
P SELECT ledger.uuid FROM ledger FOR UPDATE;

-- transitions.record
  INSERT INTO event (campaign_id, task_index, attempt_id, at, kind, detail)
S VALUES (:campaign_id, :task_index, :attempt_id, NOW, :kind, :detail);
P VALUES (:campaign_id, :task_index, :attempt_id, NOW, :kind, :detail)
P RETURNING id;

-- transitions.set_state
  UPDATE task
  SET state=:state
  WHERE task.campaign_id = :campaign AND (task.task_index IN :tasks) AND task.state = :state;
  UPDATE task SET state=:state WHERE task.campaign_id = :campaign AND (task.task_index IN :tasks);

-- views.create
  CREATE VIEW task_overview AS
  SELECT campaign.name AS campaign, task.task_index AS task, task.state, task.work, task.failures, task.deaths, (
    SELECT count(*) AS count_1
    FROM attempt AS attempt_1
    WHERE attempt_1.campaign_id = task.campaign_id AND attempt_1.task_index = task.task_index
S ) AS attempts, attempt.outcome, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', attempt.granted, 'unixepoch'
S ) AS granted, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', attempt.began, 'unixepoch'
S ) AS began, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', attempt.ended, 'unixepoch'
P ) AS attempts, attempt.outcome, to_char(
P   to_timestamp(attempt.granted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
P ) AS granted, to_char(
P   to_timestamp(attempt.began) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
P ) AS began, to_char(
P   to_timestamp(attempt.ended) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  ) AS ended, result.seconds, result.value, CASE WHEN (
    result.confirmed_by IS NOT NULL
  ) THEN 1 WHEN (result.attempt_id IS NOT NULL) THEN 0 END AS confirmed, result.doubt, attempt.worker_id AS worker,
    worker.host, worker.device_kind, worker.device_model, CASE WHEN (worker.slurm_index IS NULL) THEN
    worker.slurm_job ELSE worker.slurm_job || '_' || CAST(worker.slurm_index AS VARCHAR) END AS slurm
  FROM task JOIN campaign ON campaign.id = task.campaign_id
  LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id AND result.task_index = task.task_index
  LEFT OUTER JOIN attempt ON attempt.id = coalesce(
    result.attempt_id, (
      SELECT max(attempt_1.id) AS max_1
      FROM attempt AS attempt_1
      WHERE attempt_1.campaign_id = task.campaign_id AND attempt_1.task_index = task.task_index
    )
  )
  LEFT OUTER JOIN worker ON worker.id = attempt.worker_id;
  CREATE VIEW worker_overview AS WITH cut_short AS MATERIALIZED (
    SELECT attempt.id AS id, attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.worker_id
      AS worker_id, attempt.outcome AS outcome, attempt.granted AS granted, attempt.began AS began, attempt.ended AS
      ended, attempt.computed AS computed, CASE WHEN (
      (EXISTS (SELECT result.attempt_id FROM result WHERE result.campaign_id = attempt.campaign_id AND
        result.task_index = attempt.task_index AND result.attempt_id = attempt.id)) OR (
        EXISTS (
          SELECT witness.attempt_id
          FROM witness
          WHERE witness.campaign_id = attempt.campaign_id AND witness.task_index = attempt.task_index
          AND witness.attempt_id = attempt.id
        )
      )
    ) THEN 1 ELSE 0 END AS late
    FROM attempt
    WHERE attempt.outcome IN ('preempted', 'expired', 'released', 'failed', 'died')
  )
  SELECT worker.id AS worker, (
    SELECT campaign.name
    FROM campaign JOIN attempt AS attempt_1 ON attempt_1.campaign_id = campaign.id
    WHERE attempt_1.worker_id = worker.id
S   LIMIT 1 OFFSET 0
P   LIMIT 1
  ) AS campaign, worker.host, worker.process, worker.device_kind, worker.device_model, worker.cores,
    worker.processes, worker.kernels, CASE WHEN (worker.slurm_index IS NULL) THEN worker.slurm_job ELSE
S   worker.slurm_job || '_' || CAST(worker.slurm_index AS VARCHAR) END AS slurm, strftime('%Y-%m-%dT%H:%M:%fZ',
S   worker.started, 'unixepoch') AS started, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', worker.last_seen, 'unixepoch'
S ) AS last_seen, strftime('%Y-%m-%dT%H:%M:%fZ', worker.ended, 'unixepoch') AS ended, worker.ending, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', voter.distrusted, 'unixepoch'
P   worker.slurm_job || '_' || CAST(worker.slurm_index AS VARCHAR) END AS slurm,
P   to_char(to_timestamp(worker.started) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS started, to_char(
P   to_timestamp(worker.last_seen) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
P ) AS last_seen, to_char(to_timestamp(worker.ended) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ended,
P   worker.ending, to_char(
P   to_timestamp(voter.distrusted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  ) AS distrusted, coalesce(numbers.leased, 0) AS leased, coalesce(numbers.done, 0) AS done,
    coalesce(numbers.released, 0) AS released, coalesce(numbers.preempted, 0) AS preempted,
    coalesce(numbers.expired, 0) AS expired, coalesce(numbers.failed, 0) AS failed, coalesce(numbers.died, 0) AS
    died, coalesce(numbers.superseded, 0) AS superseded, coalesce(numbers.seconds, 0) +
    coalesce(others.late_seconds, 0) AS busy_seconds, coalesce(others.lost_seconds, 0) AS lost_seconds,
    coalesce(numbers.in_time, 0) + coalesce(others.late, 0) AS results, coalesce(others.lost, 0) AS lost
  FROM worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  LEFT OUTER JOIN (
    SELECT attempt.worker_id AS worker_id, sum(CASE WHEN (attempt.ended IS NULL) THEN 1 ELSE 0 END) AS leased,
      sum(CASE WHEN (attempt.outcome = 'done') THEN 1 ELSE 0 END) AS done, sum(CASE WHEN (attempt.outcome =
      'released') THEN 1 ELSE 0 END) AS released, sum(CASE WHEN (attempt.outcome = 'preempted') THEN 1 ELSE 0 END)
      AS preempted, sum(CASE WHEN (attempt.outcome = 'expired') THEN 1 ELSE 0 END) AS expired, sum(CASE WHEN
      (attempt.outcome = 'failed') THEN 1 ELSE 0 END) AS failed, sum(CASE WHEN (attempt.outcome = 'died') THEN 1
      ELSE 0 END) AS died, sum(CASE WHEN (attempt.outcome = 'superseded') THEN 1 ELSE 0 END) AS superseded, sum(CASE
      WHEN (attempt.outcome IN ('done', 'superseded')) THEN 1 ELSE 0 END) AS in_time, sum(
      CASE WHEN (attempt.outcome IN ('done', 'superseded')) THEN coalesce(attempt.computed, 0.0) ELSE 0.0 END
    ) AS seconds
    FROM attempt
    GROUP BY attempt.worker_id
  ) AS numbers ON numbers.worker_id = worker.id
  LEFT OUTER JOIN (
    SELECT cut_short.worker_id AS worker_id, sum(CASE WHEN (cut_short.late = 0 AND (cut_short.computed > 0 OR
      cut_short.outcome IN ('failed', 'died'))) THEN 1 ELSE 0 END) AS lost, sum(
      CASE WHEN (
        cut_short.late = 0 AND (cut_short.computed > 0 OR cut_short.outcome IN ('failed', 'died'))
      ) THEN coalesce(cut_short.computed, 0.0) ELSE 0.0 END
    ) AS lost_seconds, sum(CASE WHEN (cut_short.late = 1) THEN 1 ELSE 0 END) AS late, sum(
      CASE WHEN (cut_short.late = 1) THEN coalesce(cut_short.computed, 0.0) ELSE 0.0 END
    ) AS late_seconds
    FROM cut_short
    GROUP BY cut_short.worker_id
  ) AS others ON others.worker_id = worker.id;
  CREATE VIEW throughput AS
S SELECT campaign.name AS campaign, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', CAST(minutes.minute * 60 AS FLOAT), 'unixepoch'
P SELECT campaign.name AS campaign, to_char(
P   to_timestamp(CAST(minutes.minute * 60 AS FLOAT(53))) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  ) AS minute, minutes.tasks, minutes.work, minutes.seconds
  FROM campaign
  JOIN (
    SELECT result.campaign_id AS campaign_id, CAST(
S     result.accepted / 60 AS INTEGER
P     floor(result.accepted / 60) AS BIGINT
    ) AS minute, count(*) AS tasks, sum(task.work) AS work, sum(result.seconds) AS seconds
    FROM result JOIN task ON task.campaign_id = result.campaign_id AND task.task_index = result.task_index
    WHERE (result.voter_id NOT IN (SELECT voter.id FROM voter WHERE voter.kind != 'worker'))
S   GROUP BY CAST(result.accepted / 60 AS INTEGER), result.campaign_id
P   GROUP BY CAST(floor(result.accepted / 60) AS BIGINT), result.campaign_id
  ) AS minutes ON minutes.campaign_id = campaign.id;
  CREATE VIEW lost_time AS WITH cut_short AS MATERIALIZED (
    SELECT attempt.id AS id, attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.worker_id
      AS worker_id, attempt.outcome AS outcome, attempt.granted AS granted, attempt.began AS began, attempt.ended AS
      ended, attempt.computed AS computed, CASE WHEN (
      (EXISTS (SELECT result.attempt_id FROM result WHERE result.campaign_id = attempt.campaign_id AND
        result.task_index = attempt.task_index AND result.attempt_id = attempt.id)) OR (
        EXISTS (
          SELECT witness.attempt_id
          FROM witness
          WHERE witness.campaign_id = attempt.campaign_id AND witness.task_index = attempt.task_index
          AND witness.attempt_id = attempt.id
        )
      )
    ) THEN 1 ELSE 0 END AS late
    FROM attempt
    WHERE attempt.outcome IN ('preempted', 'expired', 'released', 'failed', 'died')
  )
S SELECT campaign.name AS campaign, numbers.outcome, numbers.attempts, numbers.seconds, numbers.longest, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', numbers.first, 'unixepoch'
S ) AS first, strftime('%Y-%m-%dT%H:%M:%fZ', numbers.last, 'unixepoch') AS last, numbers.unbegun, numbers.unknown
P SELECT campaign.name AS campaign, numbers.outcome, numbers.attempts, numbers.seconds, numbers.longest, to_char(
P   to_timestamp(numbers.first) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
P ) AS first, to_char(
P   to_timestamp(numbers.last) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
P ) AS last, numbers.unbegun, numbers.unknown
  FROM campaign
  JOIN (
    SELECT cut_short.campaign_id AS campaign_id, cut_short.outcome AS outcome, sum(CASE WHEN (cut_short.late = 0 AND
      (cut_short.computed > 0 OR cut_short.outcome IN ('failed', 'died'))) THEN 1 ELSE 0 END) AS attempts, coalesce(
      sum(
        CASE WHEN (
          cut_short.late = 0 AND (cut_short.computed > 0 OR cut_short.outcome IN ('failed', 'died'))
        ) THEN coalesce(cut_short.computed, 0.0) END
      ), 0.0
    ) AS seconds, max(
      CASE WHEN (
        cut_short.late = 0 AND (cut_short.computed > 0 OR cut_short.outcome IN ('failed', 'died'))
      ) THEN coalesce(cut_short.computed, 0.0) END
    ) AS longest, min(cut_short.ended) AS first, max(cut_short.ended) AS last, sum(CASE WHEN (cut_short.late = 0 AND
      cut_short.computed = 0 AND (cut_short.outcome NOT IN ('failed', 'died'))) THEN 1 ELSE 0 END) AS unbegun, sum(
      CASE WHEN (
        cut_short.late = 0 AND cut_short.computed IS NULL AND (cut_short.outcome NOT IN ('failed', 'died'))
      ) THEN 1 ELSE 0 END
    ) AS unknown
    FROM cut_short
    WHERE cut_short.late = 0
    GROUP BY cut_short.campaign_id, cut_short.outcome
  ) AS numbers ON numbers.campaign_id = campaign.id;
  CREATE VIEW disagreements AS
  SELECT campaign.name AS campaign, result.task_index AS task, result.doubt, result.value AS accepted_value,
S   strftime('%Y-%m-%dT%H:%M:%fZ', result.accepted, 'unixepoch') AS accepted_at, accepted_attempt.worker_id AS
S   accepted_worker, accepted_worker.host AS accepted_host, accepted_worker.device_model AS accepted_device,
S   accepted_worker.kernels AS accepted_kernels, witness.value AS other_value, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', witness.accepted, 'unixepoch'
P   to_char(to_timestamp(result.accepted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS accepted_at,
P   accepted_attempt.worker_id AS accepted_worker, accepted_worker.host AS accepted_host,
P   accepted_worker.device_model AS accepted_device, accepted_worker.kernels AS accepted_kernels, witness.value AS
P   other_value, to_char(
P   to_timestamp(witness.accepted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  ) AS other_at, other_attempt.worker_id AS other_worker, other_worker.host AS other_host, other_worker.device_model
S   AS other_device, other_worker.kernels AS other_kernels, strftime(
S   '%Y-%m-%dT%H:%M:%fZ', voter.distrusted, 'unixepoch'
P   AS other_device, other_worker.kernels AS other_kernels, to_char(
P   to_timestamp(voter.distrusted) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  ) AS other_distrusted
  FROM witness JOIN result ON result.campaign_id = witness.campaign_id AND result.task_index = witness.task_index
  JOIN campaign ON campaign.id = witness.campaign_id
  JOIN attempt AS accepted_attempt ON accepted_attempt.id = result.attempt_id
  JOIN worker AS accepted_worker ON accepted_worker.id = accepted_attempt.worker_id
  JOIN attempt AS other_attempt ON other_attempt.id = witness.attempt_id
  JOIN worker AS other_worker ON other_worker.id = other_attempt.worker_id
  LEFT OUTER JOIN voter ON voter.id = other_worker.voter_id
  WHERE witness.value != result.value;

-- waiting._values_in_conflict
  SELECT event.detail
  FROM event
  WHERE event.campaign_id = :campaign AND event.task_index = :task_index AND event.kind = :kind
  ORDER BY event.id DESC
  LIMIT :param;

-- waiting.in_conflict
  SELECT result.task_index
  FROM result
  WHERE result.campaign_id = :campaign AND result.doubt IS NOT NULL AND result.doubt IN (:doubts);

-- waiting.numbers
  SELECT count(*) AS count_1
  FROM (
    SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
    FROM result
S   WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL
S   AND result.doubt IS NULL
P   WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
    UNION
    SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
    FROM result
    WHERE result.campaign_id = :campaign AND result.doubt IS NOT NULL AND result.doubt IN (:doubt)
    UNION
    SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
    FROM result
    WHERE result.campaign_id + :campaign_id = :campaign
    AND result.voter_id IN (
      SELECT voter.id
      FROM voter JOIN voter AS voter_1 ON voter.id = voter_1.id OR voter.kind = :kind AND voter_1.kind = :kind
      AND voter.token = voter_1.token AND (voter.token != :token OR voter.host = voter_1.host)
      WHERE voter_1.distrusted IS NOT NULL
    )
    AND result.confirmed_by IS NULL AND result.doubt IS NULL
  ) AS anon_1;

-- waiting.promise
  SELECT campaign.recheck_share FROM campaign WHERE campaign.id = :campaign;
  SELECT result.task_index, result.voter_id, result.confirmed_by, voter.kind
  FROM result JOIN voter ON voter.id = result.confirmed_by
  WHERE result.campaign_id = :campaign AND result.confirmed_by IS NOT NULL AND voter.distrusted IS NULL
  ORDER BY result.task_index;
S SELECT result.task_index FROM result WHERE result.campaign_id = :campaign AND result.drawn = 1;
S SELECT 1 AS anon_1;
P SELECT result.task_index FROM result WHERE result.campaign_id = :campaign AND result.drawn;
P SELECT has_column_privilege('campaign', 'secret', 'SELECT') AS anon_1;
  SELECT campaign.secret FROM campaign WHERE campaign.id = :campaign;
  SELECT count(*) = :tasks AS anon_1 FROM result WHERE result.campaign_id = :campaign;

-- waiting.replication
  SELECT (
    SELECT count(*) AS count_1
    FROM (
      SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
      FROM result
S     WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL
P     WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL
      UNION
      SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
      FROM result
      WHERE result.campaign_id + :campaign_id = :campaign
      AND result.voter_id IN (
        SELECT voter.id
        FROM voter JOIN voter AS voter_1 ON voter.id = voter_1.id OR voter.kind = :kind AND voter_1.kind = :kind
        AND voter.token = voter_1.token AND (voter.token != :token OR voter.host = voter_1.host)
        WHERE voter_1.distrusted IS NOT NULL
      )
      AND result.confirmed_by IS NULL AND result.doubt IS NULL
    ) AS anon_1
  ) AS missing, (
    SELECT count(*) AS count_2
    FROM result
S   WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NOT NULL
P   WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NOT NULL
  ) AS replicated;

-- waiting.suspected
  SELECT result.campaign_id, result.task_index
  FROM result
  WHERE result.campaign_id + :campaign_id = :campaign
  AND result.voter_id IN (
    SELECT voter.id
    FROM voter JOIN voter AS voter_1 ON voter.id = voter_1.id OR voter.kind = :kind AND voter_1.kind = :kind
    AND voter.token = voter_1.token AND (voter.token != :token OR voter.host = voter_1.host)
    WHERE voter_1.distrusted IS NOT NULL
  )
  AND result.confirmed_by IS NULL AND result.doubt IS NULL;

-- waiting.tasks
  SELECT result.campaign_id, result.task_index
  FROM result
S WHERE result.campaign_id = :campaign AND result.drawn = 1 AND result.confirmed_by IS NULL AND result.doubt IS NULL
P WHERE result.campaign_id = :campaign AND result.drawn AND result.confirmed_by IS NULL AND result.doubt IS NULL
  UNION
  SELECT result.campaign_id, result.task_index
  FROM result
  WHERE result.campaign_id = :campaign AND result.doubt IS NOT NULL AND result.doubt IN (:doubt)
  UNION
  SELECT result.campaign_id, result.task_index
  FROM result
  WHERE result.campaign_id + :campaign_id = :campaign
  AND result.voter_id IN (
    SELECT voter.id
    FROM voter JOIN voter AS voter_1 ON voter.id = voter_1.id OR voter.kind = :kind AND voter_1.kind = :kind
    AND voter.token = voter_1.token AND (voter.token != :token OR voter.host = voter_1.host)
    WHERE voter_1.distrusted IS NOT NULL
  )
  AND result.confirmed_by IS NULL AND result.doubt IS NULL;

-- waiting.untrusted
  SELECT result.campaign_id, result.task_index
  FROM result
  WHERE result.campaign_id + :campaign_id = :campaign
  AND result.voter_id IN (SELECT voter.id FROM voter WHERE voter.distrusted IS NOT NULL)
  AND result.confirmed_by IS NULL;

-- waiting.voted
  SELECT result.task_index, voter.host, voter.token
  FROM result JOIN attempt ON attempt.id = result.attempt_id JOIN worker ON worker.id = attempt.worker_id
  JOIN voter ON voter.id = worker.voter_id
  WHERE result.campaign_id = :campaign AND (result.task_index IN :tasks) AND attempt.questioned IS NULL
  AND voter.kind = :kind AND voter.distrusted IS NULL
  UNION
  SELECT witness.task_index, voter.host, voter.token
  FROM witness JOIN attempt ON attempt.id = witness.attempt_id JOIN worker ON worker.id = attempt.worker_id
  JOIN voter ON voter.id = worker.voter_id
  WHERE witness.campaign_id = :campaign AND (witness.task_index IN :tasks) AND attempt.questioned IS NULL
  AND voter.kind = :kind AND voter.distrusted IS NULL;

-- witnesses._carry_out
  UPDATE result
  SET voter_id=:voter_id, confirmed_by=:confirmed_by, doubt=:doubt, drawn=:drawn
  WHERE result.campaign_id = :campaign AND result.task_index = :task_index;

-- witnesses._distrust
  UPDATE voter SET distrusted=NOW WHERE voter.id = :id AND voter.distrusted IS NULL RETURNING host;
  SELECT DISTINCT witness.campaign_id, witness.task_index
  FROM witness JOIN attempt ON attempt.campaign_id = witness.campaign_id AND attempt.task_index = witness.task_index
  JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
  WHERE voter.id = :id;

-- witnesses._exchange
  SELECT result.attempt_id, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    result.accepted
  FROM result
  WHERE result.campaign_id = :campaign AND result.task_index = :task_index;
  SELECT witness.attempt_id, witness.value, witness.residue, witness.evaluated, witness.seconds, witness.provenance,
    witness.accepted
  FROM witness
  WHERE witness.id = :id;
  UPDATE result
  SET attempt_id=:attempt_id, value=:value, residue=:residue, evaluated=:evaluated, seconds=:seconds,
    provenance=:provenance, accepted=:accepted
  WHERE result.campaign_id = :campaign AND result.task_index = :task_index;
  UPDATE witness
  SET attempt_id=:attempt_id, value=:value, residue=:residue, evaluated=:evaluated, seconds=:seconds,
    provenance=:provenance, accepted=:accepted
  WHERE witness.id = :id;

-- witnesses._votes
  SELECT result.task_index, result.attempt_id, result.value, worker.voter_id, voter.kind, voter.host, voter.token,
    voter.distrusted, voter.token != :token
  AND token.id IS NULL AS is_revoked, attempt.questioned, nullif(:nullif, :nullif) AS witness_id, result.drawn,
    result.doubt
  FROM result JOIN attempt ON attempt.id = result.attempt_id JOIN worker ON worker.id = attempt.worker_id
  JOIN voter ON voter.id = worker.voter_id LEFT OUTER JOIN token ON token.digest = voter.token
  WHERE result.campaign_id = :campaign AND (result.task_index IN :tasks)
  ORDER BY result.task_index, result.attempt_id;
  SELECT witness.task_index, witness.attempt_id, witness.value, worker.voter_id, voter.kind, voter.host,
    voter.token, voter.distrusted, voter.token != :token
  AND token.id IS NULL AS is_revoked, attempt.questioned, witness.id AS witness_id
  FROM witness JOIN attempt ON attempt.id = witness.attempt_id JOIN worker ON worker.id = attempt.worker_id
  JOIN voter ON voter.id = worker.voter_id LEFT OUTER JOIN token ON token.digest = voter.token
  WHERE witness.campaign_id = :campaign AND (witness.task_index IN :tasks)
  ORDER BY witness.task_index, witness.attempt_id;

-- witnesses.discount
  SELECT DISTINCT witness.campaign_id, witness.task_index
  FROM witness JOIN attempt ON attempt.campaign_id = witness.campaign_id AND attempt.task_index = witness.task_index
  JOIN worker ON worker.id = attempt.worker_id JOIN voter ON voter.id = worker.voter_id
  WHERE (voter.token IN :tokens);

-- witnesses.question
  UPDATE attempt
  SET questioned=NOW
  WHERE attempt.campaign_id = :campaign
  AND (
    attempt.id IN (SELECT result.attempt_id FROM result WHERE result.campaign_id = :campaign) OR attempt.id IN (
      SELECT witness.attempt_id FROM witness WHERE witness.campaign_id = :campaign
    )
  )
  AND attempt.questioned IS NULL AND (attempt.task_index IN :tasks)
  RETURNING task_index;
  UPDATE attempt
  SET questioned=NOW
  WHERE attempt.campaign_id = :campaign
  AND (
    attempt.id IN (SELECT result.attempt_id FROM result WHERE result.campaign_id = :campaign) OR attempt.id IN (
      SELECT witness.attempt_id FROM witness WHERE witness.campaign_id = :campaign
    )
  )
  AND attempt.questioned IS NULL
  AND attempt.worker_id IN (SELECT worker.id FROM worker WHERE worker.id = :id OR worker.host = :host)
  AND (
    attempt.worker_id IN (SELECT worker.id FROM worker WHERE worker.kernels = :kernels) OR attempt.id IN (SELECT
S     result.attempt_id FROM result WHERE result.campaign_id = :campaign AND (result.provenance LIKE '%' ||
S     :provenance || '%' ESCAPE '/')) OR attempt.id IN (
P     result.attempt_id FROM result WHERE result.campaign_id = :campaign AND (result.provenance LIKE '%%' ||
P     :provenance || '%%' ESCAPE '/')) OR attempt.id IN (
      SELECT witness.attempt_id
      FROM witness
S     WHERE witness.campaign_id = :campaign AND (witness.provenance LIKE '%' || :provenance || '%' ESCAPE '/')
P     WHERE witness.campaign_id = :campaign AND (witness.provenance LIKE '%%' || :provenance || '%%' ESCAPE '/')
    )
  )
  RETURNING task_index;

-- witnesses.testify
  INSERT INTO witness (
    campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance, accepted
  )
  VALUES (:campaign_id, :task_index, :attempt_id, :value, :residue, :evaluated, :seconds, :provenance, NOW);
P INSERT INTO witness (
P   campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance, accepted
P )
P VALUES (:campaign_id, :task_index, :attempt_id, :value, :residue, :evaluated, :seconds, :provenance, NOW)
P RETURNING id;

-- witnesses.testimonies
  SELECT witness.attempt_id, witness.value FROM witness WHERE (witness.attempt_id IN :attempts);

-- worker_queries.paces
  SELECT worker.id, (
S   SELECT CASE WHEN (count(*) >= :count) THEN sum(task.work) / (sum(result.seconds) + 0.0) END AS anon_1
P   SELECT CASE WHEN (count(*) >= :count) THEN sum(task.work) / CAST(sum(result.seconds) AS FLOAT(53)) END AS anon_1
    FROM (
      SELECT attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.id AS id
      FROM attempt
      WHERE attempt.worker_id = worker.id AND attempt.ended IS NOT NULL
      ORDER BY attempt.ended DESC
      LIMIT :param
    ) AS anon_2
    JOIN task ON task.campaign_id = anon_2.campaign_id AND task.task_index = anon_2.task_index
    JOIN result ON result.campaign_id = anon_2.campaign_id AND result.task_index = anon_2.task_index
    WHERE anon_2.campaign_id = :campaign AND result.attempt_id = anon_2.id AND result.seconds BETWEEN :seconds
    AND :seconds
  ) AS pace
  FROM worker
  WHERE (worker.id IN :workers) AND worker.last_seen > :since
  ORDER BY worker.last_seen DESC
  LIMIT :param;

-- worker_queries.running
  SELECT attempt.task_index, attempt.worker_id, task.work, task.state = :state AS anon_1, attempt.granted,
    attempt.deadline - coalesce(attempt.seconds, :coalesce) AS anon_2, coalesce(attempt.computed, :coalesce) AS
    coalesce_2, coalesce(attempt.seconds, :coalesce) AS coalesce_4
  FROM attempt JOIN task ON task.campaign_id = attempt.campaign_id AND task.task_index = attempt.task_index
  WHERE attempt.ended IS NULL AND attempt.deadline > :deadline AND attempt.campaign_id + :campaign_id = :campaign;

-- worker_queries.workers
  SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.kind, voter.token, voter.distrusted,
    anon_1.last_ended AS last_ended
  FROM worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  JOIN (
    SELECT attempt.worker_id AS worker_id, max(attempt.ended) AS last_ended
    FROM attempt
    WHERE attempt.campaign_id = :campaign
    GROUP BY attempt.worker_id
  ) AS anon_1 ON anon_1.worker_id = worker.id
  ORDER BY worker.started, worker.id;
  SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.kind, voter.token, voter.distrusted, (
    SELECT max(attempt.ended) AS max_1
    FROM attempt
    WHERE attempt.worker_id = worker.id AND attempt.ended IS NOT NULL
  ) AS last_ended
  FROM worker LEFT OUTER JOIN voter ON voter.id = worker.voter_id
  WHERE worker.id IN (
    SELECT attempt.worker_id
    FROM attempt
    WHERE attempt.ended IS NULL AND attempt.deadline > :deadline AND attempt.campaign_id + :campaign_id = :campaign
  ) OR (SELECT attempt.campaign_id FROM attempt WHERE attempt.worker_id = worker.id AND attempt.ended IS NOT NULL
    ORDER BY attempt.ended LIMIT :param) = :campaign OR (
    SELECT attempt.campaign_id
    FROM attempt
    WHERE attempt.worker_id = worker.id AND attempt.ended IS NOT NULL
    ORDER BY attempt.ended DESC
    LIMIT :param
  ) = :campaign
  ORDER BY worker.started, worker.id;

-- workers.worker_events
  SELECT attempt.worker_id, attempt.outcome, attempt.ended, attempt.task_index, attempt.note
  FROM attempt
  WHERE (attempt.worker_id IN :workers) AND attempt.campaign_id + :campaign_id = :campaign
  AND attempt.ended IS NOT NULL AND attempt.outcome IN (:outcome)
  ORDER BY attempt.ended DESC
  LIMIT :param;
