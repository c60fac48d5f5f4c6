(ns saga
  "Steps that change something outside, undone in reverse when a later one fails."
  {:visibility :prompt})

;; A step fails if its function throws, or if it returns {:ok false …}, as calls of servers do. If nobody knows whether a
;; step was done, nothing is undone: undoing what goes with a payment that was made would be as wrong as paying twice.

(defn step
  "A step for saga/run. do-it takes the results of the steps before it, as a vector. undo takes the step's own result."
  ([do-it undo] {:do-it do-it :undo undo})
  ([name do-it undo] {:name name :do-it do-it :undo undo}))

(defn- named [steps i]
  (let [name (:name (nth steps i))]
    (if (nil? name) i name)))

(defn- caught [e]
  {:error (ex-message e) :unknown (= :outcome_unknown (:kind (ex-data e)))})

(defn- refused [answer]
  (when (and (map? answer) (false? (:ok answer)))
    {:error (pr-str (:reason answer)) :unknown (= :outcome-unknown (:reason answer))}))

;; What a function gave: {:value v}, or {:error text :unknown b}.
(defn- tried [f arg]
  (let [found (try {:value (f arg)} (catch Exception e (caught e)))]
    (or (when-not (:error found) (refused (:value found)))
        found)))

;; Undoes the steps before i, the last one first. What cannot be undone does not keep the others from being undone.
(defn- undo-before [steps results i]
  (loop [i (dec i) undone [] failed []]
    (if (neg? i)
      {:undone undone :not-undone failed}
      (let [undo (:undo (nth steps i))
            found (if (nil? undo) {:value nil} (tried undo (nth results i)))]
        (if (:error found)
          (recur (dec i) undone (conj failed {:step (named steps i) :error (:error found) :unknown (:unknown found)}))
          (recur (dec i) (conj undone (named steps i)) failed))))))

(defn- check [steps]
  (when-not (and (sequential? steps) (every? (fn [step] (and (map? step) (fn? (:do-it step)))) steps))
    (fail {:reason "saga: the steps are a vector, such as [(saga/step do-it undo)]"})))

(defn attempt
  "Like run, but never fails: {:ok true :value results}, or {:ok false :reason \"step_failed\" or \"outcome_unknown\" :step name :error text :results results :undone names :not-undone [{:step :error :unknown}]}."
  [steps]
  (check steps)
  (let [steps (vec steps)]
    (loop [i 0 results []]
      (if (= i (count steps))
        {:ok true :value results}
        (let [found (tried (:do-it (nth steps i)) results)]
          (cond
            (not (:error found)) (recur (inc i) (conj results (:value found)))
            (:unknown found)
            {:ok false :reason "outcome_unknown" :step (named steps i) :error (:error found) :results results
             :undone [] :not-undone []}
            :else
            (merge {:ok false :reason "step_failed" :step (named steps i) :error (:error found) :results results}
                   (undo-before steps results i))))))))

(defn run
  "Runs steps made by saga/step, in order: (saga/run [(saga/step (fn [_] (tool/book {:room 7})) (fn [booking] (tool/cancel {:id (:id booking)}))) …]). Returns their results as a vector. If one fails, undoes those before it in reverse and fails. If nobody knows whether a call was done, undoes nothing and fails with \"outcome_unknown\"."
  [steps]
  (let [ended (attempt steps)]
    (if (:ok ended)
      (:value ended)
      (fail (dissoc ended :ok)))))
