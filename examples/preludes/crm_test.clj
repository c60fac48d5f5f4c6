; Tests of crm.clj: ptc test examples/preludes/crm.clj

; Stands in for a tool of the server `crm`, in every test of the file.
(stub-tool 'crm/get_user
  (fn [args]
    (if (= "u_1" (:id args))
      {:ok true :value {:name "Ada"}}
      {:ok false :reason "not_found"})))

(deftest finds-a-user
  (is (= {"name" "Ada"} (crm/get-user! "u_1")))
  (testing "ids come as people type them"
    (is (:ok (crm/get-user " u_1 ")))
    (is (= ["u_1" "u_1"] (map :id (tool-calls 'crm/get_user))))))

(deftest ends-the-program-without-a-user
  (is (= "not_found" (:reason (crm/get-user "u_9"))))
  (is (fails-with? {:reason "not_found"} (crm/get-user! "u_9"))))

(deftest pages-do-not-overlap
  (stub-tool 'crm/list_users {:ok true :value []})
  (crm/list-users 0)
  (crm/list-users 2)
  (is (= [0 (* 2 crm/page-size)] (map :offset (tool-calls 'crm/list_users)))))
